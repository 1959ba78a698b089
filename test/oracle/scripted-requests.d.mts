/** How often `apiserver_request_total` has counted each series of the thousand scripted requests, on a server that has not had them before. */
export function countScriptedRequests(url: string): Promise<Record<string, number>>;
/** Which plug-ins and steps of admission count something when some writes are sent: `name=… operation=… rejected=… type=…`, sorted. */
export function admissionSeries(url: string): Promise<string[]>;
