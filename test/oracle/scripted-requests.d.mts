/** How often `apiserver_request_total` has counted each series of the thousand scripted requests, on a server that has not had them before. */
export function countScriptedRequests(url: string): Promise<Record<string, number>>;
