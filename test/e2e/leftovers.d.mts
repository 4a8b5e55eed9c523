export function killProcessesBelow(folder: string): void;
export function kill(pid: number): void;
