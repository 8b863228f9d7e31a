import { readFileSync, writeFileSync } from 'node:fs';
import { crc32, deflateSync } from 'node:zlib';
import { chromium } from 'playwright-core';
import { findBrowser } from './systemPackages.mjs';

/** Colours of a palette. */
const COLOURS = 256;

/**
 * Writes a picture with a palette, which takes a third of the space: a window of an editor has few colours, and the
 * edges of letters may be a shade off.
 * @param {string} from
 * @param {string} to
 * @returns {Promise<number>} kilobytes
 */
export async function shrinkPicture(from, to) {
  const { width, height, pixels } = await decode(readFileSync(from));
  const bytes = encode(width, height, pixels);
  writeFileSync(to, bytes);
  return Math.round(bytes.length / 1_024);
}

/** @param {Buffer} png @returns {Promise<{ width: number, height: number, pixels: Buffer }>} red, green, blue and opacity of each pixel */
async function decode(png) {
  const browser = await chromium.launch({
    executablePath: findBrowser() ?? '',
    args: ['--no-sandbox', '--disable-gpu'],
  });
  try {
    const page = await browser.newPage();
    const { width, height, data } = await page.evaluate(`(async () => {
      const image = new Image();
      image.src = 'data:image/png;base64,${png.toString('base64')}';
      await image.decode();
      const context = new OffscreenCanvas(image.width, image.height).getContext('2d');
      context.drawImage(image, 0, 0);
      const { data } = context.getImageData(0, 0, image.width, image.height);
      let text = '';
      for (let at = 0; at < data.length; at += 30_000) text += String.fromCharCode(...data.subarray(at, at + 30_000));
      return { width: image.width, height: image.height, data: btoa(text) };
    })()`);
    return { width, height, pixels: Buffer.from(data, 'base64') };
  } finally {
    await browser.close();
  }
}

/** @param {number} width @param {number} height @param {Buffer} pixels */
function encode(width, height, pixels) {
  const places = paletteOf(pixels);
  const colours = [...places.palette];
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++)
      rows[y * (width + 1) + 1 + x] = places.of(pixels.readUInt32BE((y * width + x) * 4) >>> 8);
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3, 0, 0, 0], 8);
  const palette = Buffer.from(colours.flatMap((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255]));
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    chunk('PLTE', palette),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/**
 * Chooses the colours with most pixels among those that differ visibly, and finds the nearest of them.
 * @param {Buffer} pixels
 */
function paletteOf(pixels) {
  /** @type {Map<number, number>} */
  const counts = new Map();
  for (let at = 0; at < pixels.length; at += 4) {
    const colour = pixels.readUInt32BE(at) >>> 8;
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  const byUse = [...counts].sort(([, a], [, b]) => b - a).map(([colour]) => colour);
  /** @type {number[]} */
  let palette = [];
  for (let least = 0; ; least += 24) {
    palette = [];
    for (const colour of byUse) {
      if (palette.length <= COLOURS && palette.every((one) => distance(one, colour) > least)) palette.push(colour);
    }
    if (palette.length <= COLOURS) break;
  }
  /** @type {Map<number, number>} */
  const known = new Map();
  const of = (/** @type {number} */ colour) => {
    const found = known.get(colour) ?? nearest(palette, colour);
    known.set(colour, found);
    return found;
  };
  return { palette, of };
}

/** @param {readonly number[]} palette @param {number} colour */
function nearest(palette, colour) {
  let best = 0;
  palette.forEach((one, index) => {
    if (distance(one, colour) < distance(/** @type {number} */ (palette[best]), colour)) best = index;
  });
  return best;
}

/** @param {number} a @param {number} b */
function distance(a, b) {
  return ((a >> 16) - (b >> 16)) ** 2 + (((a >> 8) & 255) - ((b >> 8) & 255)) ** 2 + ((a & 255) - (b & 255)) ** 2;
}

/** @param {string} type @param {Buffer} data */
function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}
