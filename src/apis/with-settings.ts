import type { ResourceDefinition } from '../registry/definition.ts';
import type { KindSettings } from '../registry/write.ts';
import { NOTHING_EMPTY } from '../schema/empty-paths.ts';
import { copyWith } from './define.ts';

/** The definition as one server has it. The one given stays as it is: several servers may live in one process. */
export const withSettings = (definition: ResourceDefinition, settings: KindSettings, now: () => Date): ResourceDefinition =>
  copyWith(definition, {
    settings,
    served: definition.served.map((served) =>
      copyWith(served, {
        ...(served.default && {
          default: (object, context) =>
            served.default!(object, { settings, now: now(), sentEmpty: context?.sentEmpty ?? NOTHING_EMPTY, turns: context?.turns }),
        }),
        ...(served.toStored && {
          toStored: (object, context) => served.toStored!(object, { settings, now: now(), sentEmpty: context?.sentEmpty ?? NOTHING_EMPTY }),
        }),
      }),
    ),
  });
