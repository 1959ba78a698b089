import type { IpFamily } from '../../registry/allocators.ts';
import type { ApiObject } from '../../api/api-object.ts';

const FAMILY = 'ipaddress.kubernetes.io/ip-family';
const MANAGED_BY = 'ipaddress.kubernetes.io/managed-by';
const ALLOCATOR = 'ipallocator.k8s.io';

/** Who has a cluster IP, which is the object's name. */
export interface IpAddressObject extends ApiObject {
  spec: { parentRef: { group?: string; resource: string; namespace?: string; name: string } };
}

/** An address of a service. */
export const ipAddressOf = (family: IpFamily, address: string, { namespace, name }: { namespace: string; name: string }): IpAddressObject => ({
  kind: 'IPAddress',
  apiVersion: 'networking.k8s.io/v1',
  metadata: { name: address, labels: { [FAMILY]: family, [MANAGED_BY]: ALLOCATOR } },
  spec: { parentRef: { resource: 'services', namespace, name } },
});

/** Made by the allocator, of this server or another. */
export const isAllocated = ({ metadata }: IpAddressObject): boolean => metadata.labels?.[MANAGED_BY] === ALLOCATOR;

export const hasLabelsOf = (address: IpAddressObject, family: IpFamily): boolean => isAllocated(address) && address.metadata.labels?.[FAMILY] === family;

export const refersToService = ({ spec: { parentRef } }: IpAddressObject): boolean => !parentRef.group && parentRef.resource === 'services';
