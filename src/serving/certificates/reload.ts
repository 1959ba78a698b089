import { type FSWatcher, readFileSync, watch } from 'node:fs';
import { dirname } from 'node:path';
import { type KeyPair, checkKeyPair, parseCertificates } from './pem.ts';

/** A value that may change while the server runs, such as a certificate whose files are rewritten. */
export interface Reloadable<T> {
  readonly current: T;
  /** Called after every change. */
  onChange(listener: () => void): void;
}

/** A reloadable that reads files, until it is closed. */
export interface FileReloadable<T> extends Reloadable<T> {
  close(): void;
}

/** A value that never changes. */
export const fixed = <T>(current: T): Reloadable<T> => ({ current, onChange() {} });

export interface ReloadOptions {
  /** Told when changed files cannot be used; the value before them stays. Told once per content. */
  onError?: (error: Error) => void;
  /** Files are looked at this often even if the system reports no change (network mounts do not). Upstream's period. */
  pollMs?: number;
  /** A change is read this long after its report, because writers take several steps. */
  settleMs?: number;
}

/** A certificate and its key. Throws when they cannot be read or do not belong together. */
export function watchKeyPair(certFile: string, keyFile: string, options: ReloadOptions = {}): FileReloadable<KeyPair> {
  return watchFiles([certFile, keyFile], options, ([certPem, keyPem]) => {
    if (certPem === '' || keyPem === '') throw new Error(`missing content for serving cert "serving-cert::${certFile}::${keyFile}"`);
    const pair = { certPem: certPem!, keyPem: keyPem! };
    checking([certFile, keyFile], () => checkKeyPair(pair));
    return pair;
  });
}

/** A bundle of authorities as PEM. Throws when it cannot be read or holds no certificate. */
export function watchBundle(file: string, options: ReloadOptions = {}): FileReloadable<string> {
  return watchFiles([file], options, ([pem]) => {
    if (pem === '') throw new Error(`missing content for CA bundle "client-ca-bundle::${file}"`);
    checking([file], () => parseCertificates(pem!));
    return pem!;
  });
}

/** A file as it is; what to make of a change is the listener's to say. Throws when it cannot be read. */
export const watchText = (file: string, options: ReloadOptions = {}): FileReloadable<string> => watchFiles([file], options, ([text]) => text!);

/** What is wrong with a file's content says which file it is. */
function checking(files: readonly string[], check: () => unknown): void {
  try {
    check();
  } catch (error) {
    throw new Error(`cannot use ${files.join(' with ')}: ${(error as Error).message}`, { cause: error });
  }
}

/** Reads files, makes a value of their texts, and makes it anew whenever the texts change. */
function watchFiles<T>(files: readonly string[], options: ReloadOptions, make: (texts: string[]) => T): FileReloadable<T> {
  const { onError = () => {}, pollMs = 60_000, settleMs = 20 } = options;
  const listeners: (() => void)[] = [];
  let texts = files.map((file) => readFileSync(file, 'utf8'));
  let current = make(texts);
  let lastProblem = '';

  const reload = (): void => {
    try {
      const now = files.map((file) => readFileSync(file, 'utf8'));
      if (now.every((text, index) => text === texts[index])) return;
      current = make(now);
      texts = now;
      lastProblem = '';
    } catch (error) {
      const problem = error instanceof Error ? error : new Error(String(error));
      if (problem.message !== lastProblem) onError(problem);
      lastProblem = problem.message;
      return;
    }
    for (const listener of listeners) listener();
  };

  const stopWatching = watchFolders(files, reload, settleMs);
  const poll = setInterval(reload, pollMs).unref();
  return {
    get current() {
      return current;
    },
    onChange: (listener) => void listeners.push(listener),
    close() {
      clearInterval(poll);
      stopWatching();
    },
  };
}

/** Watches the folders, not the files: a file that is replaced by a rename (as kubelet's volumes are) is another file afterwards. */
function watchFolders(files: readonly string[], onChange: () => void, settleMs: number): () => void {
  let settling: NodeJS.Timeout | undefined;
  const settle = (): void => {
    settling ??= setTimeout(() => {
      settling = undefined;
      onChange();
    }, settleMs).unref();
  };
  const watchers: FSWatcher[] = [];
  for (const folder of new Set(files.map((file) => dirname(file)))) {
    try {
      const watcher = watch(folder, { persistent: false }, settle);
      watcher.on('error', () => watcher.close());
      watchers.push(watcher);
    } catch {
      // No watch to be had (too many, or not on this file system): polling finds the change later.
    }
  }
  return () => {
    clearTimeout(settling);
    for (const watcher of watchers) watcher.close();
  };
}
