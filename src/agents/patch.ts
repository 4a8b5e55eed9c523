import type { FileEdit } from '../model/event.ts';

/** The lines of one place in a file that changed, on their way to an edit. */
class Hunk {
  private readonly before: string[] = [];
  private readonly after: string[] = [];
  private context: string[] = [];
  private changed = false;

  /** Lines around the change are left out, lines between changes are part of both texts. */
  add(line: string): void {
    const mark = line.charAt(0);
    const text = line.slice(1);
    if (mark !== '-' && mark !== '+') {
      if (this.changed) this.context.push(text);
      return;
    }
    for (const between of this.context) {
      this.before.push(between);
      this.after.push(between);
    }
    this.context = [];
    this.changed = true;
    (mark === '-' ? this.before : this.after).push(text);
  }

  finish(): { before: string; after: string } | null {
    return this.changed ? { before: this.before.join('\n'), after: this.after.join('\n') } : null;
  }
}

/** A file's part of a patch. */
class Section {
  readonly path: string;
  readonly change: FileEdit['change'];
  private to: string | null = null;
  private readonly hunks: { before: string; after: string }[] = [];
  private hunk = new Hunk();

  constructor(change: FileEdit['change'], path: string) {
    this.change = change;
    this.path = path;
  }

  moveTo(path: string): void {
    this.to = path;
  }

  closeHunk(): void {
    const hunk = this.hunk.finish();
    if (hunk !== null) this.hunks.push(hunk);
    this.hunk = new Hunk();
  }

  add(line: string): void {
    this.hunk.add(line);
  }

  finish(): FileEdit[] {
    this.closeHunk();
    const { path, change, to } = this;
    if (change === 'created') {
      const after = this.hunks.map((hunk) => `${hunk.after}\n`).join('');
      return [{ path, change, before: '', after }];
    }
    if (change === 'deleted') return [{ path, change, before: '', after: '' }];
    if (to === null) return this.hunks.map((hunk) => ({ path, change, ...hunk }));
    const [first = { before: '', after: '' }, ...others] = this.hunks;
    return [
      { path, change: 'moved', ...first, to },
      ...others.map((hunk) => ({ path: to, change, ...hunk })),
    ];
  }
}

const HEADER = /^\*\*\* (Add|Update|Delete) File: (.+)$/;
const CHANGES = { Add: 'created', Update: 'edited', Delete: 'deleted' } as const;

/** The edits in a patch of the `*** Begin Patch` kind; none when the text is not one. */
export function parsePatch(text: string): FileEdit[] {
  const begin = text.indexOf('*** Begin Patch');
  if (begin === -1) return [];
  const sections: Section[] = [];
  let section: Section | null = null;
  for (const line of text.slice(begin).split(/\r?\n/)) {
    const header = HEADER.exec(line);
    if (header !== null) {
      const [, verb = '', path = ''] = header;
      section = new Section(verb === 'Add' || verb === 'Delete' ? CHANGES[verb] : 'edited', path.trim());
      sections.push(section);
    } else if (line.startsWith('*** Move to: ')) section?.moveTo(line.slice('*** Move to: '.length).trim());
    else if (line.startsWith('*** End Patch')) break;
    else if (line.startsWith('@@')) section?.closeHunk();
    else if (!line.startsWith('*** ')) section?.add(line);
  }
  return sections.flatMap((part) => part.finish());
}

/** The edits that a unified diff of one file makes. */
export function parseUnifiedDiff(diff: string, path: string, to: string | null): FileEdit[] {
  const section = new Section('edited', path);
  if (to !== null) section.moveTo(to);
  let inHunk = false;
  for (const line of diff.split(/\r?\n/)) {
    if (line.startsWith('@@')) {
      section.closeHunk();
      inHunk = true;
    } else if (inHunk && !line.startsWith('\\')) section.add(line);
  }
  return section.finish();
}
