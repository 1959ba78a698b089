import type { Frame } from './pprof-profile.ts';

/** As V8's inspector tells a frame; lines and columns are from 0. */
export interface V8CallFrame {
  functionName: string;
  url: string;
  lineNumber: number;
  columnNumber: number;
}

/** V8's own name for what has no parent. */
export const ROOT = '(root)';

/** A function without a name is told apart by where it stands: the bundle is one file of few lines, so the column counts. */
export function frameOf({ functionName, url, lineNumber, columnNumber }: V8CallFrame): Frame {
  const file = url.replace(/^file:\/\//, '');
  const line = lineNumber + 1;
  const column = columnNumber + 1;
  const place = `${file.slice(file.lastIndexOf('/') + 1)}:${line}:${column}`;
  return { name: functionName || (file === '' ? '(native code)' : `(anonymous ${place})`), file, line, column };
}
