/** Where a document of OpenAPI v3 is, as the index names it. */
export const hashedUrl = (path: string, hash: string): string => `/openapi/v3/${path}?hash=${hash}`;
