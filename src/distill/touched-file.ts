/** A file that a session has to do with. */
export interface TouchedFile {
  path: string;
  edits: number;
  /** Edits that were tried and did not happen. */
  failures: number;
  created: boolean;
  deleted: boolean;
  reads: number;
  lastEdit: number;
  lastRead: number;
  line: number;
}

/** A file of which nothing has happened yet. */
export function describeUntouched(path: string, line = 0): TouchedFile {
  return {
    path,
    edits: 0,
    failures: 0,
    created: false,
    deleted: false,
    reads: 0,
    lastEdit: 0,
    lastRead: 0,
    line,
  };
}

/** Whether anything was done to the file, or tried. */
export function isChanged(file: TouchedFile): boolean {
  return file.edits + file.failures > 0 || file.deleted;
}

const ABSOLUTE = /^(?:[/~\\]|[A-Za-z]:)/;

/** A path in a command counts from the folder that the command runs in. */
export function locatePath(path: string, folder: string | null): string {
  if (folder === null || ABSOLUTE.test(path)) return path;
  const slash = isWindows(folder) ? '\\' : '/';
  let base = folder;
  let rest = path.replace(/^(?:\.[\\/])+/, '');
  while (/^\.\.[\\/]/.test(rest)) {
    base = base.replace(/[\\/][^\\/]+$/, '');
    rest = rest.slice(3);
  }
  return `${base}${slash}${slash === '\\' ? rest.replaceAll('/', '\\') : rest}`;
}

function isWindows(path: string): boolean {
  return /^[A-Za-z]:\\|^\\\\/.test(path);
}

/** A path as it is written from a folder, where it lies below it. One of Windows stays as its programs spell it: whole. */
export function relatePath(path: string, folder: string | null): string {
  return folder !== null && path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path;
}

/** Places that hold what others made, or what is gone tomorrow. */
const FOREIGN =
  /(?:^|[\\/])(?:node_modules|site-packages|\.venv|dist|build|target|coverage|__pycache__)[\\/]|^\/(?:private\/)?tmp\/|^\/var\/folders\/|\\AppData\\Local\\Temp\\/;

export function isForeign(path: string): boolean {
  return FOREIGN.test(path);
}
