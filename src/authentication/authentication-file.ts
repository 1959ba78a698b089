import type { FileReloadable } from '../serving/certificates/reload.ts';
import { watchText } from '../serving/certificates/reload.ts';
import { summarize } from '../api/field-errors.ts';
import { equalJson } from '../encoding/json-equal.ts';
import {
  type AnonymousConfiguration,
  type AuthenticationConfiguration,
  type JwtConfiguration,
  parseAuthenticationConfiguration,
} from './authentication-configuration.ts';
import { type ValidationOptions, validateAuthenticationConfiguration } from './validate-configuration.ts';

/** `--authentication-config`, read and found valid; changes of the file are followed. */
export interface AuthenticationFile {
  configuration: AuthenticationConfiguration;
  /** `replace` gets the authenticators of every later content that is valid. */
  onChange(replace: (jwt: readonly JwtConfiguration[]) => Promise<void>): void;
  close(): void;
}

export interface AuthenticationFileOptions extends ValidationOptions {
  /** Told of a content that cannot be used; the one before it stays. */
  report(error: Error): void;
  /** Told of the content at start, and of each that is in use from then on. */
  onLoaded?(text: string): void;
  onReloaded?(text: string): void;
  settleMs?: number;
}

/** Throws an Error where the file cannot be read, or is no valid configuration. */
export async function openAuthenticationFile(path: string, options: AuthenticationFileOptions): Promise<AuthenticationFile> {
  const { report, settleMs } = options;
  const file = watchText(path, { onError: report, ...(settleMs !== undefined && { settleMs }) });
  try {
    const configuration = await read(file, options);
    options.onLoaded?.(file.current);
    return { configuration, onChange: (replace) => follow(file, configuration.anonymous, options, replace), close: () => file.close() };
  } catch (error) {
    file.close();
    throw new Error(`failed to load authentication configuration from file ${JSON.stringify(path)}: ${(error as Error).message}`, { cause: error });
  }
}

async function read(file: FileReloadable<string>, options: ValidationOptions): Promise<AuthenticationConfiguration> {
  const configuration = await parseAuthenticationConfiguration(file.current);
  const errors = validateAuthenticationConfiguration(configuration, options);
  if (!errors.isEmpty) throw new Error(`invalid authentication configuration: ${summarize(errors.list)}`);
  return configuration;
}

/** Who may come without a name is decided at start: that it would change later with a file is not wanted. */
function follow(
  file: FileReloadable<string>,
  anonymous: AnonymousConfiguration | undefined,
  options: AuthenticationFileOptions,
  replace: (jwt: readonly JwtConfiguration[]) => Promise<void>,
): void {
  const reload = async (): Promise<void> => {
    const text = file.current;
    const next = await read(file, options);
    if (!equalJson(next.anonymous ?? null, anonymous ?? null)) throw new Error('anonymous: Forbidden: changed from initial configuration file');
    await replace(next.jwt ?? []);
    options.onReloaded?.(text);
  };
  // One after the other, so that the last content is the one that stays.
  let reloading = Promise.resolve();
  file.onChange(() => (reloading = reloading.then(reload).catch(options.report)));
}
