/* All that is shown goes through here as text nodes: nothing in the data becomes markup. */

export type Child = Node | string;
type Attributes = Readonly<Record<string, string | number>>;

export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  made.append(...children);
  return made;
}

export function shape<K extends keyof SVGElementTagNameMap>(
  name: K,
  attributes: Attributes,
  ...children: readonly Child[]
): SVGElementTagNameMap[K] {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  made.append(...children);
  return made;
}

/** An element of the page's own. */
export function findElement<E extends Element>(id: string, kind: new () => E): E {
  const found = document.getElementById(id);
  if (found instanceof kind) return found;
  throw new Error(`the page has no ${id}`);
}

export type Column<Row> = { title: string; isNumber?: boolean; show(row: Row): Child };

export function drawTable<Row>(caption: string, columns: readonly Column<Row>[], rows: readonly Row[]): HTMLElement {
  const cellOf = ({ isNumber = false }: Column<Row>): Attributes => (isNumber ? { class: 'number' } : {});
  const heads = columns.map((column) => element('th', { scope: 'col', ...cellOf(column) }, column.title));
  const lines = rows.map((row) =>
    element('tr', {}, ...columns.map((column) => element('td', cellOf(column), column.show(row)))),
  );
  const table = element(
    'table',
    {},
    element('caption', {}, caption),
    element('thead', {}, element('tr', {}, ...heads)),
    element('tbody', {}, ...lines),
  );
  return element('div', { class: 'scrolled', tabindex: 0, role: 'region', 'aria-label': caption }, table);
}

const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' });
const TIME = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZone: 'UTC' });
const NUMBER = new Intl.NumberFormat('en-GB');

export function showDay(at: string | Date): string {
  return DAY.format(new Date(at));
}

export function showTime(at: string): HTMLElement {
  const date = new Date(at);
  return element('time', { datetime: at }, `${DAY.format(date)}, ${TIME.format(date)}`);
}

export function showCount(count: number, noun = ''): string {
  return noun === '' ? NUMBER.format(count) : `${NUMBER.format(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** Parts of one line, with a point between them. */
export function joinParts(...parts: readonly (Child | null)[]): HTMLElement {
  const shown = parts.filter((part) => part !== null && part !== '');
  return element(
    'p',
    { class: 'about' },
    ...shown.flatMap((part, at) => (part === null ? [] : at === 0 ? [part] : [' · ', part])),
  );
}
