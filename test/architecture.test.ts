import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { PROJECT_DIR, SOURCE_DIR } from './support/paths.ts';

/* The house as docs/design.md draws it: the table of folders is read, and what ships is held to it. */

/** The command's bundle and the watchdog's are loaded by name, not imported: see src/cli/main.ts and src/cli/run.ts. */
const ENTRIES = ['cli/main.ts', 'cli/command.ts', 'supervision/watchdog-worker.ts', 'index.ts'];
const MAX_LINES = 500;

interface Import {
  from: string;
  to: string;
  isTypeOnly: boolean;
}

/** Which folders one may import from, and from which of those types alone. */
interface Permission {
  folders: Set<string>;
  typesOf: Set<string>;
}

const sourceFiles = readdirSync(SOURCE_DIR, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
const textOf = (file: string): string => readFileSync(join(SOURCE_DIR, file), 'utf8');
/** A folder of src, or a file that lies in it directly. */
const roomOf = (file: string): string => file.split('/', 1)[0]!;
const isGenerated = (file: string): boolean => textOf(file).startsWith('// Generated ');

const STATIC_IMPORT = /^(?:import|export)\s+(?:(type)\s+)?([^'";]*?)\s*from\s+'([^']+)'/gm;
const DYNAMIC_IMPORT = /\bimport\('([^']+)'\)/g;

/** Imports of other files of src. */
function importsOf(file: string): Import[] {
  const text = textOf(file);
  const found = [
    ...[...text.matchAll(STATIC_IMPORT)].map(([, type, names, path]) => ({ path: path!, isTypeOnly: type !== undefined || namesOnlyTypes(names!) })),
    ...[...text.matchAll(DYNAMIC_IMPORT)].map(([, path]) => ({ path: path!, isTypeOnly: false })),
  ];
  return found
    .filter(({ path }) => path.startsWith('.') && path.endsWith('.ts'))
    .map(({ path, isTypeOnly }) => ({ from: file, to: relative(SOURCE_DIR, join(SOURCE_DIR, dirname(file), path)), isTypeOnly }));
}

/** `{ type A, type B }` */
const namesOnlyTypes = (names: string): boolean =>
  names
    .replace(/[{}\s]+/g, ' ')
    .split(',')
    .filter((name) => name.trim() !== '')
    .every((name) => name.trim().startsWith('type '));

/** What the entry points reach; tests and what helps them are not among it. */
function shippedImports(): Import[] {
  const seen = new Set(ENTRIES);
  const imports: Import[] = [];
  for (const file of seen) {
    for (const found of importsOf(file)) {
      imports.push(found);
      seen.add(found.to);
    }
  }
  return imports;
}

/** The rows of the table under "The house", from the top: names of folders, and the words of the last column. */
function tableRows(): { folders: string[]; mayImport: string }[] {
  const section = readFileSync(join(PROJECT_DIR, 'docs/design.md'), 'utf8')
    .split(/^## /m)
    .find((part) => part.startsWith('The house'));
  const rows = (section ?? '').split('\n').filter((line) => line.startsWith('| `src/'));
  return rows.map((row) => {
    const [first, , last] = row.slice(1, -1).split('|');
    return { folders: [...first!.matchAll(/`src\/([^`/]+)\/?`/g)].map(([, name]) => name!), mayImport: last!.trim() };
  });
}

function permissions(): Map<string, Permission> {
  const rows = tableRows();
  const named = (from: number): string[] => rows.slice(from).flatMap(({ folders }) => folders);
  return new Map(rows.flatMap(({ folders, mayImport }, index) => folders.map((folder) => [folder, permissionOf(mayImport, named(0), named(index + 1))])));
}

/** `everything`, `the rows below`, `nothing`, or names of folders below with a comma between them, some as `types of …`. */
function permissionOf(mayImport: string, all: readonly string[], below: readonly string[]): Permission {
  const permission: Permission = { folders: new Set(), typesOf: new Set() };
  if (mayImport === 'nothing') return permission;
  if (mayImport === 'everything') return { ...permission, folders: new Set(all) };
  if (mayImport === 'the rows below') return { ...permission, folders: new Set(below) };
  for (const words of mayImport.split(', ')) {
    const name = words.replace(/^types of /, '');
    if (!below.includes(name)) throw new Error(`docs/design.md lets import "${name}", which is no row below`);
    (words === name ? permission.folders : permission.typesOf).add(name);
  }
  return permission;
}

describe('docs/design.md', () => {
  const allowed = permissions();

  test('has a row for every folder', () => {
    const rooms = new Set(sourceFiles.filter((file) => !file.endsWith('.test.ts')).map(roomOf));
    expect([...rooms].filter((room) => !allowed.has(room))).toEqual([]);
  });

  test('allows every import that is made', () => {
    const forbidden = shippedImports().filter(({ from, to, isTypeOnly }) => {
      const permission = allowed.get(roomOf(from));
      const isAllowed = permission?.folders.has(roomOf(to)) || (isTypeOnly && permission?.typesOf.has(roomOf(to)));
      return roomOf(from) !== roomOf(to) && !isAllowed;
    });
    expect(forbidden.map(({ from, to, isTypeOnly }) => `src/${from} imports ${isTypeOnly ? 'types of ' : ''}src/${to}`)).toEqual([]);
  });
});

describe('every file', () => {
  test(`has at most ${MAX_LINES} lines, unless it is generated`, () => {
    const long = sourceFiles.filter((file) => textOf(file).split('\n').length - 1 > MAX_LINES && !isGenerated(file));
    expect(long).toEqual([]);
  });

  test('of the console keeps to that too, and imports nothing of the server', () => {
    const folder = join(PROJECT_DIR, 'console');
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => /\.(?:tsx?|css)$/.test(file));
    const text = (file: string): string => readFileSync(join(folder, file), 'utf8');
    expect(files.filter((file) => text(file).split('\n').length - 1 > MAX_LINES)).toEqual([]);
    expect(files.filter((file) => /from '[./]*\/src\//.test(text(file)))).toEqual([]);
    expect(files.filter((file) => /\b(?:TODO|FIXME)\b/.test(text(file)))).toEqual([]);
  });

  test('waits for signals by onAbort, which leaves nothing behind in them, and never tells Node to be silent about that', () => {
    const isForbidden = /AbortSignal\.(?:any|timeout)\(|setMaxListeners|\.addEventListener\('abort'/;
    // A watch listens to the signal of its own request, which ends with it.
    const allowed = new Set(['util/on-abort.ts', 'endpoints/watch-stream.ts']);
    const shipped = sourceFiles.filter((file) => !file.endsWith('.test.ts') && !allowed.has(file));
    expect(shipped.filter((file) => isForbidden.test(textOf(file)))).toEqual([]);
  });

  test('of a kind asks its write for the time and for settings, and keeps nothing between two of them', () => {
    const isForbidden = /\bnew Date\(\)|\bDate\.now\(|\bprocess\.(?:env|argv|hrtime)|^(?:export )?let /m;
    const kinds = sourceFiles.filter((file) => file.startsWith('apis/') && !file.endsWith('.test.ts'));
    expect(kinds.filter((file) => isForbidden.test(textOf(file)))).toEqual([]);
  });

  test('is done', () => {
    expect(sourceFiles.filter((file) => /\b(?:TODO|FIXME)\b/.test(textOf(file)))).toEqual([]);
  });
});
