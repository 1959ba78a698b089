import { type OpenApiDocument, SchemaDocument } from '../schema/schema.ts';
import type { Client } from './client.ts';

/**
 * The server's own documents of its types, one a group and version, asked for when somebody wants to know. The browser's cache has them by their hash; of what is
 * read, the last one is kept, since the largest takes some megabytes.
 */
export class OpenApi {
  readonly #client: Client;
  #last: { name: string; document: Promise<SchemaDocument> } | undefined;

  constructor(client: Client) {
    this.#client = client;
  }

  document(group: string, version: string): Promise<SchemaDocument> {
    const name = group === '' ? `api/${version}` : `apis/${group}/${version}`;
    if (this.#last?.name !== name) this.#last = { name, document: this.#load(name) };
    return this.#last.document;
  }

  async #load(name: string): Promise<SchemaDocument> {
    const { paths } = await this.#client.json<{ paths: Record<string, { serverRelativeURL: string }> }>('/openapi/v3');
    const path = paths[name]?.serverRelativeURL;
    return new SchemaDocument(path === undefined ? {} : await this.#client.json<OpenApiDocument>(path, { cache: 'default' }));
  }
}
