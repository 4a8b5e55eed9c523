import { lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** @typedef {import('./recorded-calls.mjs').Call} Call */

/**
 * A file: what a power cut leaves for certain, and the contents it went through since.
 * @typedef {{ kind: 'file', now: Buffer, history: Buffer[] }} FileNode
 */
/** @typedef {Map<string, DiskNode>} Names */
/**
 * A folder: the same for its names.
 * @typedef {{ kind: 'folder', now: Names, history: Names[] }} FolderNode
 */
/** @typedef {FileNode | FolderNode} DiskNode */
/** Everything below a folder as a power cut left it: null for a folder. @typedef {Map<string, Buffer | null>} Remains */

/**
 * The weakest disk that POSIX allows: data is safe once its file was flushed, a name once its folder was; of what came
 * after, any part may be there. Names of one folder are kept in order, data may be torn or may not have followed its
 * length. Paths outside `root` are no concern.
 */
export class Disk {
  /** @param {string} root A folder whose present content is safe. */
  constructor(root) {
    this.root = root;
    this.tree = load(root);
    /** @type {Map<number, { node: DiskNode, append: boolean, at: number }>} */
    this.open = new Map();
  }

  /** @param {Call} call */
  apply(call) {
    switch (call.op) {
      case 'open':
        return this.#openFile(call);
      case 'write':
        return this.#write(call.fd, call.data);
      case 'sync':
        return this.#sync(call.fd);
      case 'close':
        this.open.delete(call.fd);
        return;
      case 'mkdir':
        return this.#name(call.path, { kind: 'folder', now: new Map(), history: [new Map()] });
      case 'link':
        return this.#name(call.path, this.#find(call.from));
      case 'unlink':
        return this.#name(call.path, null);
      case 'rename':
        return this.#rename(call.from, call.path);
      case 'answer':
    }
  }

  /** @param {Extract<Call, { op: 'open' }>} call */
  #openFile({ path, fd, create, truncate, append }) {
    if (!this.#isInside(path)) return;
    let node = this.#find(path);
    if (node === null && create) {
      node = { kind: 'file', now: Buffer.alloc(0), history: [Buffer.alloc(0)] };
      this.#name(path, node);
    }
    if (node === null) throw new Error(`${path} was opened but never made`);
    if (truncate && node.kind === 'file' && node.now.length > 0) change(node, Buffer.alloc(0));
    this.open.set(fd, { node, append, at: 0 });
  }

  /** @param {number} fd @param {Buffer} data */
  #write(fd, data) {
    const file = this.open.get(fd);
    if (file?.node.kind !== 'file') return;
    const { node } = file;
    const at = file.append ? node.now.length : file.at;
    file.at = at + data.length;
    const half = data.length >> 1;
    const whole = overwrite(node.now, at, data);
    node.history.push(overwrite(node.now, at, data.subarray(0, half)));
    node.history.push(overwrite(node.now, at, Buffer.alloc(data.length)));
    change(node, whole);
  }

  /** @param {number} fd */
  #sync(fd) {
    const node = this.open.get(fd)?.node;
    if (node?.kind === 'file') node.history = [node.now];
    if (node?.kind === 'folder') node.history = [node.now];
  }

  /** @param {string} from @param {string} path */
  #rename(from, path) {
    const node = this.#find(from);
    if (dirname(from) !== dirname(path)) throw new Error('the disk model knows no move to another folder');
    const folder = this.#find(dirname(path));
    if (folder?.kind !== 'folder') return;
    const names = new Map(folder.now);
    names.delete(basename(from));
    if (node !== null) names.set(basename(path), node);
    folder.now = names;
    folder.history.push(names);
  }

  /** @param {string} path @param {DiskNode | null} node */
  #name(path, node) {
    const folder = this.#find(dirname(path));
    if (folder?.kind !== 'folder') return;
    const names = new Map(folder.now);
    if (node === null) names.delete(basename(path));
    else names.set(basename(path), node);
    folder.now = names;
    folder.history.push(names);
  }

  /** @param {string} path @returns {DiskNode | null} */
  #find(path) {
    if (path === this.root) return this.tree;
    if (!this.#isInside(path)) return null;
    const parent = this.#find(dirname(path));
    return parent?.kind === 'folder' ? (parent.now.get(basename(path)) ?? null) : null;
  }

  /** @param {string} path */
  #isInside(path) {
    return path === this.root || path.startsWith(`${this.root}/`);
  }

  /**
   * Everything that may be left when the power fails now.
   * @returns {Remains[]}
   */
  listRemains() {
    return listStates(this.tree, '');
  }
}

/** @param {FileNode} node @param {Buffer} content */
function change(node, content) {
  node.now = content;
  node.history.push(content);
}

/** @param {Buffer} content @param {number} at @param {Buffer} data */
function overwrite(content, at, data) {
  const result = Buffer.alloc(Math.max(content.length, at + data.length));
  content.copy(result);
  data.copy(result, at);
  return result;
}

const MAX_STATES = 50_000;

/**
 * @param {DiskNode} node
 * @param {string} path
 * @returns {Remains[]}
 */
function listStates(node, path) {
  if (node.kind === 'file') return node.history.map((content) => new Map([[path, content]]));
  return node.history.flatMap((names) => {
    /** @type {Remains[]} */
    let states = [new Map([[path, null]])];
    for (const [name, child] of names) {
      const below = listStates(child, join(path, name));
      states = states.flatMap((state) => below.map((more) => new Map([...state, ...more])));
      if (states.length > MAX_STATES) throw new Error('too many states for the disk model');
    }
    return states;
  });
}

/** @param {string} path @returns {DiskNode} */
function load(path) {
  if (lstatSync(path).isFile()) {
    const content = readFileSync(path);
    return { kind: 'file', now: content, history: [content] };
  }
  const names = new Map(readdirSync(path).map((name) => [name, load(join(path, name))]));
  return { kind: 'folder', now: names, history: [names] };
}

/** @param {Remains} remains @param {string} folder */
export function materialize(remains, folder) {
  for (const [path, content] of remains) {
    if (content === null) mkdirSync(join(folder, path), { recursive: true, mode: 0o700 });
    else writeFileSync(join(folder, path), content, { mode: 0o600 });
  }
}
