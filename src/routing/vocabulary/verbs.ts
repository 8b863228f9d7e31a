/** What developers do to things, in all the words they use for it. */
export const VERBS = `
delete, remove, erase, destroy~
`;
