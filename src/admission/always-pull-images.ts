import { containersAt, containersOf } from '../apis/core/pod/containers-of.ts';
import type { Pod } from '../apis/facts/types/core-v1.ts';
import type { AdmissionAttributes } from '../registry/admission.ts';
import { aggregateMessage } from '../api/aggregate-message.ts';
import { unknownError } from '../api/errors.ts';
import { FieldErrors } from '../api/field-errors.ts';
import { type AdmissionPlugin, CREATE_OR_UPDATE } from './plugin.ts';
import { refusal } from './refusal.ts';

const ALWAYS = 'Always';

/** An image that is on the node already is no one's who may not pull it (plugin/pkg/admission/alwayspullimages). */
export const alwaysPullImages: AdmissionPlugin = { name: 'AlwaysPullImages', operations: CREATE_OR_UPDATE, targets: ['pods'], mutate, validate };

function mutate(attributes: AdmissionAttributes): void {
  if (!hasNewImages(attributes)) return;
  const { spec } = attributes.object as Pod;
  for (const container of containersOf(spec)) container.imagePullPolicy = ALWAYS;
  for (const { image } of spec.volumes ?? []) if (image) image.pullPolicy = ALWAYS;
}

function validate(attributes: AdmissionAttributes): void {
  if (!hasNewImages(attributes)) return;
  const { spec } = attributes.object as Pod;
  const errors = new FieldErrors().at('spec');
  for (const [{ imagePullPolicy }, at] of containersAt(spec, errors)) {
    if (imagePullPolicy !== ALWAYS) at.at('imagePullPolicy').notSupported(imagePullPolicy, [ALWAYS]);
  }
  for (const [index, { image }] of (spec.volumes ?? []).entries()) {
    if (image && image.pullPolicy !== ALWAYS) errors.at('volumes').index(index).at('image', 'pullPolicy').notSupported(image.pullPolicy, [ALWAYS]);
  }
  if (!errors.isEmpty) throw unknownError(aggregateMessage(errors.list.map(({ field, body }) => refusal(attributes, `${field}: ${body}`).message)));
}

/** A pod that runs is left alone, unless it gets another image. */
function hasNewImages({ operation, object, oldObject }: AdmissionAttributes): boolean {
  if (operation !== 'UPDATE') return true;
  const old = new Set(containersOf((oldObject as Pod).spec).map(({ image }) => image));
  return containersOf((object as Pod).spec).some(({ image }) => !old.has(image));
}
