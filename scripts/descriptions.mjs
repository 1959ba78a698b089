// Writes dist/descriptions.json.br: what OpenAPI documents, and `kubectl explain` with them, say of every type, field and query parameter. The texts are read from
// the doc comments of packages (descriptions/sources.mjs); none of them is in the repository, only the hash of the one that belongs to each place
// (descriptions/places.json) and where a package's text has other line breaks (descriptions/edits.json).
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants } from 'node:zlib';
import { applyEdit } from './descriptions/edits.mjs';
import { hashOf, readTexts } from './descriptions/sources.mjs';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
/** The best of ratios that does not take seconds. */
const QUALITY = 9;

const readData = (name) => JSON.parse(readFileSync(join(ROOT, 'scripts/descriptions', name), 'utf8'));

/**
 * The file has every text once, and for each type the index of its own text (under '') and of its fields'.
 * @param {string} outputPath
 */
export function writeDescriptions(outputPath) {
  const available = editedTexts();
  const texts = [];
  const indexes = new Map();
  const types = {};
  for (const [type, fields] of Object.entries(readData('places.json'))) {
    types[type] = {};
    for (const [field, hash] of Object.entries(fields)) {
      if (!available.has(hash)) continue;
      if (!indexes.has(hash)) indexes.set(hash, texts.push(available.get(hash)) - 1);
      types[type][field] = indexes.get(hash);
    }
  }
  mkdirSync(dirname(outputPath), { recursive: true });
  const json = JSON.stringify({ texts, types });
  writeFileSync(
    outputPath,
    brotliCompressSync(json, { params: { [constants.BROTLI_PARAM_QUALITY]: QUALITY, [constants.BROTLI_PARAM_SIZE_HINT]: json.length } }),
  );
}

/** An edit of a text that a package no longer has in that form is left out, as is one whose result is not the text that it should be. */
function editedTexts() {
  const texts = readTexts();
  for (const [hash, [base, changes]] of Object.entries(readData('edits.json'))) {
    const text = texts.has(base) ? applyEdit(texts.get(base), changes) : '';
    if (hashOf(text) === hash) texts.set(hash, text);
  }
  return texts;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeDescriptions(process.argv[2] ?? join(ROOT, 'dist/descriptions.json.br'));
