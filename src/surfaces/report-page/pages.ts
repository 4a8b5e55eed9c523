import { type Child, type Column, drawTable, element, showCount } from './elements.ts';

interface Pages<Item> {
  size: number;
  /** What one item is called. */
  noun: string;
  draw(items: readonly Item[]): Child;
}

/** A long list, a page at a time. The buttons stay where they are, so that the focus does. */
export function drawPages<Item>(items: readonly Item[], { size, noun, draw }: Pages<Item>): HTMLElement {
  if (items.length === 0) return drawNothing();
  const content = element('div');
  if (items.length <= size) {
    content.append(draw(items));
    return content;
  }
  let first = 0;
  const place = element('span', { role: 'status' });
  const show = (): void => {
    const last = Math.min(first + size, items.length);
    content.replaceChildren(draw(items.slice(first, last)));
    place.textContent = `${showCount(first + 1)}–${showCount(last)} of ${showCount(items.length, noun)}`;
    earlier.setAttribute('aria-disabled', String(first === 0));
    later.setAttribute('aria-disabled', String(last === items.length));
  };
  const turn = (way: -1 | 1) => (): void => {
    const next = first + way * size;
    if (next < 0 || next >= items.length) return;
    first = next;
    show();
  };
  const earlier = element('button', { type: 'button' }, 'Previous');
  const later = element('button', { type: 'button' }, 'Next');
  earlier.addEventListener('click', turn(-1));
  later.addEventListener('click', turn(1));
  show();
  return element('div', {}, content, element('div', { class: 'pager' }, earlier, place, later));
}

const TABLE_ROWS = 20;

/** What a chart shows, for those who do not see it. Drawn when it is opened for the first time. */
export function drawTableLater<Row>(
  caption: string,
  rows: readonly Row[],
  columns: readonly Column<Row>[],
): HTMLElement {
  const draw = (shown: readonly Row[]): HTMLElement => drawTable(caption, columns, shown);
  const details = element('details', { class: 'as-table' }, element('summary', {}, 'The same as a table'));
  const open = (): void => details.append(drawPages(rows, { size: TABLE_ROWS, noun: 'row', draw }));
  details.addEventListener('toggle', open, { once: true });
  return details;
}

export function drawNothing(): HTMLElement {
  return element('p', { class: 'none' }, 'Nothing here for what is selected.');
}
