/* list.h: a doubly linked list. The links are members of the elements. The loader uses it for the order in
 * which connections become idle, time out or try again to connect. */
#ifndef LIST_H
#define LIST_H

#include <stdbool.h>
#include <stddef.h>

/* A list is a ring that includes its head. An element in no list points to itself. */
struct link {
    struct link *before, *after;
};

static inline void list_init(struct link *link)
{
    link->before = link->after = link;
}

static inline bool list_is_empty(const struct link *head)
{
    return head->after == head;
}

static inline void list_remove(struct link *link)
{
    link->before->after = link->after;
    link->after->before = link->before;
    list_init(link);
}

/* Removes the link from its list, if it is in one, and puts it at the end of this list. */
static inline void list_move_last(struct link *head, struct link *link)
{
    list_remove(link);
    link->before = head->before;
    link->after = head;
    head->before->after = link;
    head->before = link;
}

#define LIST_ELEMENT(link, type, member) ((type *)(void *)((char *)(link)-offsetof(type, member)))

#endif
