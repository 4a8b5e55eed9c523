import { type Action, type Event, limitOutput, type PlanItem } from '../model/event.ts';
import type { Redactor } from './redactor.ts';
import type { TextRange } from './rule.ts';
import { gradeName } from './rules/names.ts';
import { isReference, isStandIn, looksLikeWords } from './values.ts';

/** Redacts the texts of an event, and then cuts the output of a tool. Ids, times and folders stay. */
export function redactEvent(event: Event, redactor: Redactor): Event {
  const redact = (text: string): string => redactor.redactText(text);
  switch (event.type) {
    case 'prompt':
      return { ...event, text: redactor.redactText(event.text, { byHuman: true }) };
    case 'reply':
    case 'thought':
    case 'injected':
    case 'limit':
      return { ...event, text: redact(event.text) };
    case 'call':
      if (event.action.kind === 'command') redactor.expect(event.call, expectSecret(event.action.command));
      if (event.action.kind === 'read' && namesSecret(event.action.path))
        redactor.expect(event.call, MIN_LENGTH.printed);
      return { ...event, tool: redact(event.tool), action: redactAction(event.action, redact) };
    case 'result':
      return { ...event, output: limitOutput(redact(redactPrinted(event, redactor))) };
    case 'plan':
      return { ...event, items: event.items.map((item) => redactItem(item, redact)) };
    case 'compaction':
      return event.summary === null ? event : { ...event, summary: redact(event.summary) };
    case 'interrupted':
      return event;
  }
}

function redactPrinted({ call, output }: { call: string; output: string }, redactor: Redactor): string {
  const least = redactor.takeExpected(call);
  if (least === null) return output;
  const spans = listPrinted(output, least).map(
    (range) => ({ kind: 'printed-secret', byContext: true, ...range }) as const,
  );
  return redactor.replaceSpans(output, spans);
}

function redactItem({ detail, ...item }: PlanItem, redact: (text: string) => string): PlanItem {
  const more = detail === undefined ? {} : { detail: redact(detail) };
  return { ...item, text: redact(item.text), ...more };
}

function redactAction(action: Action, redact: (text: string) => string): Action {
  switch (action.kind) {
    case 'edit':
      return {
        ...action,
        edits: action.edits.map(({ to, ...edit }) => ({
          ...edit,
          path: redact(edit.path),
          before: redact(edit.before),
          after: redact(edit.after),
          ...(to === undefined ? {} : { to: redact(to) }),
        })),
      };
    case 'read':
      return { ...action, path: redact(action.path) };
    case 'command':
      return { ...action, command: redact(action.command) };
    case 'search':
      return { ...action, pattern: redact(action.pattern) };
    case 'fetch':
      return { ...action, url: redact(action.url) };
    case 'delegate':
      return { ...action, task: redact(action.task) };
    case 'ask':
      return { ...action, question: redact(action.question) };
    case 'propose':
      return { ...action, text: redact(action.text) };
    case 'other':
      return { ...action, texts: action.texts.map(redact) };
  }
}

/** Commands that print a secret: no shape, name or place in their output says what it is. */
const PRINTERS: readonly RegExp[] = [
  /\b(?:gh|glab|oc|hcloud) (?:auth|whoami) (?:token|-t|--show-token)\b|\boc whoami (?:-t|--show-token)\b|\bheroku auth:token\b/,
  /\bgcloud (?:auth print-\w{1,20}-token|secrets versions access)\b|\bvault (?:print token\b|(?:kv get|read) )/,
  /\baws (?:ecr get-login-password|configure get \S{0,80}(?:secret|token)|secretsmanager get-secret-value [^|;]{0,300}\btext\b)/,
  /\baws ssm get-parameters? (?=[^|;]{0,300}--with-decryption)[^|;]{0,300}\btext\b|\baz [^|;]{0,300}(?:secret show|get-access-token|keys? (?:list|renew)|list-keys|credential list)\b/,
  /\b(?:kubectl|oc|k) [^|;]{0,80}?(?:create token|get secrets?)\b[^|;]{0,200}(?:jsonpath|go-template|template)|\b(?:kubectl|oc) [^|;]{0,80}?create token\b/,
  /\b(?:op read|op item get [^|;]{0,200}--fields?|bw get (?:password|totp)|pass show|lpass show [^|;]{0,200}--password|secret-tool lookup)\b/,
  /\bsecurity find-(?:generic|internet)-pass\w+ [^|;]{0,200}-\w{0,4}w|\bargocd admin initial-password\b|\b(?:rails|rake) secret\b/,
  /\b(?:doppler|infisical) secrets get [^|;]{0,200}--plain|\bsops [^|;]{0,100}--extract\b/,
];

/** The same where the name of what is printed has to say that it is a secret. */
const NAMED_PRINTERS: readonly RegExp[] = [
  /(?:^|[;&|(]\s{0,4}|-c ['"])(?:echo|printenv|printf ['"]?%s(?:\\n)?['"]?)(?: -\w)? ["']?\$?\{?(\w{1,64})\}?["']?\s*(?:['")|]|$)/,
  /\b(?:config:get|config get|env get|output -raw|output --raw|stack output|kv get|etcdctl get|redis-cli(?: -\w \S{1,60})* get) ["']?([\w.:/-]{1,100})/,
  /\b[jy]q (?:-\w{1,4} )?(?:-r )?["']?[\w.[\]"]{0,100}?\.?(\w{1,60})["']?(?:\s|$)/,
  /(?:^|[;&|(]\s{0,4}|\s)(?:cat|head -\w{0,6}|tail -\w{0,6}) ["']?(?:[\w.~@$/{}-]{0,200}\/)?\.?([\w.-]{1,80})["']?\s*(?:[|;&)]|$)/,
];
/** Those that make one. */
const GENERATORS =
  /\bopenssl rand\b|\bpwgen\b|\/dev\/u?random\b|\bsecrets\.token_\w|\brandomBytes\(|\bartisan key:generate --show\b/;

const MAX_COMMAND = 2000;
const MAX_LINES = 6;
/** What a generator makes may be the name of a folder, if it is short. */
const MIN_LENGTH = { printed: 8, generated: 16 };

/** How long a word in the output of a command has to be for a secret; null where it prints none. */
function expectSecret(command: string): number | null {
  const text = command.slice(0, MAX_COMMAND);
  if (PRINTERS.some((pattern) => pattern.test(text))) return MIN_LENGTH.printed;
  for (const pattern of NAMED_PRINTERS) {
    const [, path = ''] = pattern.exec(text) ?? [];
    if (path !== '' && namesSecret(path)) return MIN_LENGTH.printed;
  }
  if (SECRETS_FOLDER.test(text)) return MIN_LENGTH.printed;
  return GENERATORS.test(text) ? MIN_LENGTH.generated : null;
}

/** Where containers have their secrets, whatever these are called. */
const SECRETS_FOLDER = /(?:^|\s|["'])\/(?:var\/)?run\/secrets\/\S/;

/** Whether what a path names is a secret by its name. */
function namesSecret(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1).replace(/\.txt$/, '');
  const grade = gradeName(name);
  return grade === 'personal' || grade === 'secret' || SECRETS_FOLDER.test(path);
}

/** Where other things are printed with the secret: a member of JSON that says only that it is a value, and the second of two columns. */
const VALUES = /"value"[ \t]{0,3}:[ \t]{0,3}"([^"\\\s]{8,4096})"/dg;
const TWO_COLUMNS = /^Key[ \t]{2,80}Value[ \r]{0,80}\n---[ \t]{2,80}-----[ \r]{0,80}\n/gm;
const ROW = /\S{1,80}[ \t]{2,80}(\S{1,4096})[ \t]*\r?(?:\n|$)/dy;
const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/;

function* listRows(output: string): Generator<RegExpExecArray> {
  for (const { 0: head, index } of output.matchAll(TWO_COLUMNS)) {
    ROW.lastIndex = index + head.length;
    for (let row = ROW.exec(output); row !== null; row = ROW.exec(output)) yield row;
  }
}

/** The values in an output, and the lines of a short one that are one word each, if they are more than a word of a language. */
function listPrinted(output: string, least: number): TextRange[] {
  const lines = [...output.matchAll(/^[ \t]*(?:\d{1,6}[\t→])?(\S.*?)\s*$/dgm)];
  const found = [...output.matchAll(VALUES), ...listRows(output), ...(lines.length > MAX_LINES ? [] : lines)];
  return found.flatMap(({ 1: text = '', indices }) => {
    const isSecret =
      text.length >= least &&
      text.length <= MAX_LENGTH &&
      !/\s/.test(text) &&
      !TIME.test(text) &&
      !isStandIn(text) &&
      !isReference(text, true) &&
      !looksLikeWords(text);
    const [start, end] = indices?.[1] ?? [0, 0];
    return isSecret ? [{ start, end }] : [];
  });
}

const MAX_LENGTH = 4096;
