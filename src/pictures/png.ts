import { crc32, deflateSync } from 'node:zlib';

/** A picture whose points are numbers of colours. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  /** Row by row; each is an index of `palette`. */
  readonly points: Uint8Array;
  /** At most 256 colours as `#rrggbb`. */
  readonly palette: readonly string[];
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const BITS = 8;
const INDEXED = 3;

/** The bytes of a PNG file. */
export function encodePng({ width, height, points, palette }: Pixels): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([BITS, INDEXED, 0, 0, 0], 8);
  // Each row begins with the number of its filter: none.
  const rows = Buffer.alloc((width + 1) * height);
  for (let row = 0; row < height; row += 1)
    rows.set(points.subarray(row * width, (row + 1) * width), row * (width + 1) + 1);
  const colors = Buffer.from(palette.map((color) => color.slice(1)).join(''), 'hex');
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', colors),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const whole = Buffer.alloc(body.length + 8);
  whole.writeUInt32BE(data.length, 0);
  body.copy(whole, 4);
  whole.writeUInt32BE(crc32(body), body.length + 4);
  return whole;
}
