import type { Pixels } from './png.ts';

export interface Area {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface Label {
  readonly x: number;
  readonly y: number;
  readonly text: string;
  /** Points per point of the font. */
  readonly scale: number;
}

/** A picture of rectangles and short texts. What lies outside is left out. */
export interface Canvas {
  fill(area: Area, color: string): void;
  write(label: Label, color: string): void;
  pixels(): Pixels;
}

export function createCanvas(
  { width, height }: Pick<Area, 'width' | 'height'>,
  { palette, paper }: { readonly palette: readonly string[]; readonly paper: string },
): Canvas {
  const points = new Uint8Array(width * height).fill(palette.indexOf(paper));
  const fill = (area: Area, color: string): void => {
    const left = Math.max(0, Math.round(area.x));
    const right = Math.min(width, Math.round(area.x + area.width));
    const bottom = Math.min(height, Math.round(area.y + area.height));
    const index = palette.indexOf(color);
    for (let y = Math.max(0, Math.round(area.y)); y < bottom; y += 1)
      if (left < right) points.fill(index, y * width + left, y * width + right);
  };
  return {
    fill,
    write({ x, y, text, scale }, color) {
      for (const [place, character] of [...text].entries()) {
        const left = x + place * ADVANCE * scale;
        for (const [column, bits] of columnsOf(character).entries())
          for (let row = 0; row < ROWS; row += 1)
            if ((bits >> row) % 2 === 1)
              fill({ x: left + column * scale, y: y + row * scale, width: scale, height: scale }, color);
      }
    },
    pixels: () => ({ width, height, points, palette }),
  };
}

/** The width of a text. */
export function textWidth(text: string, scale: number): number {
  return Math.max(0, [...text].length * ADVANCE - 1) * scale;
}

const ROWS = 8;
const COLUMNS = 5;
const ADVANCE = COLUMNS + 1;
const FIRST = 0x20;

/** From the space to `~`: five columns of eight points each, the lowest bit on top. */
const FONT = [
  '0000000000 00005F0000 0007000700 147F147F14 242A7F2A12 2313086462 3649564020 0008070300 001C224100 0041221C00 2A1C7F1C2A',
  '08083E0808 0080703000 0808080808 0000606000 2010080402 3E5149453E 00427F4000 7249494946 2141494D33 1814127F10 2745454539',
  '3C4A494931 4121110907 3649494936 464949291E 0000140000 0040340000 0008142241 1414141414 0041221408 0201590906 3E415D594E',
  '7C1211127C 7F49494936 3E41414122 7F4141413E 7F49494941 7F09090901 3E41415173 7F0808087F 00417F4100 2040413F01 7F08142241',
  '7F40404040 7F021C027F 7F0408107F 3E4141413E 7F09090906 3E4151215E 7F09192946 2649494932 03017F0103 3F4040403F 1F2040201F',
  '3F4038403F 6314081463 0304780403 6159494D43 0000000000 0000000000 0000000000 0000000000 0000000000 0000000000 2054547840',
  '7F28444438 3844444428 384444287F 3854545418 00087E0902 18A4A49C78 7F08040478 00447D4000 2040403D00 7F10284400 00417F4000',
  '7C04780478 7C08040478 3844444438 FC18242418 18242418FC 7C08040408 4854545424 04043F4424 3C4040207C 1C2040201C 3C4030403C',
  '4428102844 4C9090907C 4464544C44 0008364100 0000770000 0041360800 0201020402',
]
  .join(' ')
  .split(' ')
  .map((columns) => Buffer.from(columns, 'hex'));

function columnsOf(character: string): Iterable<number> & { entries(): Iterable<[number, number]> } {
  return FONT[(character.codePointAt(0) ?? 0) - FIRST] ?? FONT[0] ?? Buffer.alloc(COLUMNS);
}
