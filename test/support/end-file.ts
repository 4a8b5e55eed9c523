import { afterAll } from 'vitest';
import { endFile } from './after-each-file.ts';

// vitest runs this file anew for each test file.
afterAll(endFile);
