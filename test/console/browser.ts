import { type Browser, type BrowserContext, type BrowserContextOptions, type Page, chromium } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { findChromium } from '../support/find-etcd.ts';
import { type ServerProcess, startServer } from '../support/server.ts';

export const hasChromium = findChromium() !== undefined;

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
/** How long a browser may take on a machine that does other things too. */
const PATIENCE_MS = 20_000;
/** For conditions that are polled. */
export const SOON = { timeout: PATIENCE_MS };

/** One built server and one browser for a file of tests, and a fresh profile for each test. What goes wrong in a page fails its test. */
export class ConsoleBrowser {
  server!: ServerProcess;
  readonly #serverFlags: readonly string[];
  #browser!: Browser;
  readonly #contexts: BrowserContext[] = [];
  readonly #troubles: string[] = [];

  constructor(serverFlags: readonly string[] = []) {
    this.#serverFlags = serverFlags;
    beforeAll(async () => {
      if (!hasChromium) return;
      [this.server, this.#browser] = await Promise.all([
        startServer({ flags: ['--console', ...this.#serverFlags] }),
        chromium.launch({ executablePath: findChromium()!, args: FLAGS }),
      ]);
    });
    afterEach(async () => {
      await Promise.all(this.#contexts.splice(0).map((context) => context.close()));
      expect(this.#troubles.splice(0)).toEqual([]);
    });
    afterAll(async () => {
      await this.#browser?.close();
      await this.server?.stop();
    });
  }

  /** A page of a fresh profile, signed in by a link. */
  async signedIn(user: 'admin' | 'alice' | 'bob' | 'mallory' = 'admin', options: BrowserContextOptions = {}): Promise<Page> {
    const page = await this.page(options);
    await page.goto(await this.link(user));
    await page.locator('.shell').waitFor();
    return page;
  }

  async page(options: BrowserContextOptions = {}): Promise<Page> {
    const context = await this.#browser.newContext({ ignoreHTTPSErrors: true, viewport: { width: 1280, height: 720 }, ...options });
    context.setDefaultTimeout(PATIENCE_MS);
    this.#contexts.push(context);
    const page = await context.newPage();
    page.on('pageerror', (error) => this.#troubles.push(`error in the page: ${error.stack ?? error.message}`));
    page.on('console', (message) => {
      // The browser itself says so of every answer that is an error, and of those there are some on purpose.
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) this.#troubles.push(`said in the console: ${message.text()}`);
    });
    return page;
  }

  get address(): string {
    return `${this.server.url}/console/`;
  }

  /** The link that `binnacle up` prints, for this user. */
  async link(user: 'admin' | 'alice' | 'bob' | 'mallory' = 'admin'): Promise<string> {
    const { code } = (await this.server.client(user).send({ method: 'POST', path: '/console/code', body: {} })).json<{ code: string }>();
    return `${this.address}#code=${code}`;
  }

  /** Goes to a view by its address. */
  async go(page: Page, path: string): Promise<void> {
    await page.goto(`${this.address}#${path}`);
  }
}
