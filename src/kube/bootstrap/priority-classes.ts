import type { Client } from '../../client/client.ts';
import priorityClasses from './data/priority-classes.json' with { type: 'json' };
import { type ControllerOptions, createIfMissing, syncedResource, typed, untilDone } from './keeping.ts';

/** The two classes of system pods; made at start, not watched over afterwards. */
export function ensurePriorityClasses(client: Client, options: ControllerOptions): Promise<void> {
  return untilDone(async () => {
    const resource = await syncedResource(client, 'scheduling.k8s.io', 'priorityclasses');
    await Promise.all(typed('PriorityClass', 'scheduling.k8s.io/v1', priorityClasses).map((object) => createIfMissing(resource, object)));
  }, options);
}
