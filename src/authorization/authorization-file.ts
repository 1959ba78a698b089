import { watchText } from '../serving/certificates/reload.ts';
import { type AuthorizerConfiguration, parseAuthorizationConfiguration } from './authorization-configuration.ts';
import type { ConditionCompiler } from './match-conditions.ts';

/** `--authorization-config`, read and found valid; changes of the file are followed. */
export interface AuthorizationFile {
  authorizers: readonly AuthorizerConfiguration[];
  /** `replace` gets every later content that is valid. */
  onChange(replace: (authorizers: readonly AuthorizerConfiguration[]) => Promise<void>): void;
  close(): void;
}

export interface AuthorizationFileOptions {
  compile: ConditionCompiler;
  /** Told of a content that cannot be used; the one before it stays. */
  report(error: Error): void;
  /** Told of the content at start, and of each that is in use from then on. */
  onLoaded?(text: string): void;
  onReloaded?(text: string): void;
  settleMs?: number;
}

/** Throws an Error where the file cannot be read, or is no valid configuration. */
export async function openAuthorizationFile(
  path: string,
  { compile, report, onLoaded, onReloaded, settleMs }: AuthorizationFileOptions,
): Promise<AuthorizationFile> {
  const file = watchText(path, { onError: report, ...(settleMs !== undefined && { settleMs }) });
  const read = (): Promise<AuthorizerConfiguration[]> => parseAuthorizationConfiguration(file.current, compile);
  try {
    const authorizers = await read();
    onLoaded?.(file.current);
    return { authorizers, onChange: follow, close: () => file.close() };
  } catch (error) {
    file.close();
    throw error;
  }

  function follow(replace: (authorizers: readonly AuthorizerConfiguration[]) => Promise<void>): void {
    // One after the other, so that the last content is the one that stays.
    let reloading = Promise.resolve();
    const reload = async (): Promise<void> => {
      const text = file.current;
      await replace(await read());
      onReloaded?.(text);
    };
    file.onChange(() => (reloading = reloading.then(reload).catch(report)));
  }
}
