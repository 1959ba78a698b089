/** What neither verbs nor kinds tell of a subresource. */
export interface Irregular {
  /** GET takes this kind's fields as query parameters. */
  readOptions?: string;
  /** GET answers with text, in these types too. */
  alsoProduces?: readonly string[];
}

export const irregularities: Readonly<Partial<Record<string, Irregular>>> = {
  'pods/log': { readOptions: 'PodLogOptions', alsoProduces: ['text/plain'] },
};
