/** The version of Kubernetes that this project is, from the project's root: its tables are made from these facts, and its tests compare with them. */
export const CURRENT_FACTS = 'facts/v1.36';
