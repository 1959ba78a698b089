import type { KubernetesObject } from './objects.ts';

/** Makes of an object the same one in another version, which it must name as its apiVersion. */
export type ConversionHandler = (object: KubernetesObject, desiredAPIVersion: string) => KubernetesObject | Promise<KubernetesObject>;

interface ConversionRequest {
  uid: string;
  desiredAPIVersion: string;
  objects: KubernetesObject[];
}

/** A handler that throws has failed the conversion, with the error's message. */
export async function answerConversion(review: KubernetesObject, handler: ConversionHandler): Promise<KubernetesObject> {
  const { uid, desiredAPIVersion, objects } = review['request'] as ConversionRequest;
  const answer = (response: object): KubernetesObject => ({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview', response: { uid, ...response } });
  try {
    const convertedObjects = await Promise.all(objects.map((object) => handler(object, desiredAPIVersion)));
    return answer({ result: { status: 'Success' }, convertedObjects });
  } catch (error) {
    return answer({ result: { status: 'Failure', message: (error as Error).message } });
  }
}
