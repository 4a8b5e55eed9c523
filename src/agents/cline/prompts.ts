const TYPED = /^\s*<user_input(?: [^<>\n]{0,200})?>([\s\S]*?)<\/user_input>/;
const NOT_HUMAN =
  /^\s*(?:<(?:hook_context|environment_details|system|explicit_instructions|file_content|error)[\s_>-]|Context summary:)/;

/** What the human said at the beginning of a text, before mentioned files; null for text of the program. */
export function readHumanText(text: string): string | null {
  const typed = TYPED.exec(text)?.[1]?.trim();
  if (typed !== undefined) return typed === '' ? null : typed;
  return text.trim() === '' || NOT_HUMAN.test(text) ? null : text;
}

/** The extension wraps what the human typed, sometimes after a sentence of its own. */
const WRAPPED =
  /^\s*(?:(?:The user |New |You seem to be having trouble)[^<]{0,400})?<(task|feedback|answer|user_message)>([\s\S]*?)<\/\1>/;

/** What the human said at the beginning of a text of the extension; null when it is nothing. */
export function readWrapped(text: string): { said: string; wrapper: string } | null {
  const [, wrapper = '', said = ''] = WRAPPED.exec(text) ?? [];
  return said.trim() === '' ? null : { said: said.trim(), wrapper };
}

const ADDED = '<hook_context';
const ADDED_END = '</hook_context>';

/** The texts that hooks added to the conversation. */
export function readAddedTexts(text: string): string[] {
  const added: string[] = [];
  for (let at = text.indexOf(ADDED); at !== -1; ) {
    const start = text.indexOf('>', at);
    const end = text.indexOf(ADDED_END, at);
    if (start === -1 || end === -1) break;
    if (start < end) added.push(text.slice(start + 1, end).trim());
    at = text.indexOf(ADDED, end);
  }
  return added;
}
