import { STATUS_CODES } from 'node:http';

/** Where Go's texts (net/http StatusText) are not Node's. */
const GO_TEXTS: Readonly<Record<number, string | undefined>> = {
  413: 'Request Entity Too Large',
  414: 'Request URI Too Long',
  416: 'Requested Range Not Satisfiable',
  418: "I'm a teapot",
  509: undefined,
};

export const statusText = (status: number): string => (Object.hasOwn(GO_TEXTS, status) ? GO_TEXTS[status] : STATUS_CODES[status]) ?? `status code ${status}`;
