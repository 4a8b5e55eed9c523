import type { GenericSchema } from 'valibot';

export declare const COMMAND_SCHEMAS: Readonly<Record<string, GenericSchema>>;
