/* SPDX-License-Identifier: MIT */
#pragma once

#include "findings/report.h"
#include "native/memory_share.h"
#include "support/fake_types.h"

/*
 * A fake heap that a report is made of:
 *
 *	struct report_scene *scene = scene_create();
 *	uint64_t order = scene_class(scene, "Shop", "Order", 1, 64, NULL);
 *	scene_segment(scene, GENERATION_2, 0x10000);
 *	uint64_t object = fake_object(scene->fake, order, 0);
 *	scene_hold(scene, SCENE_STATIC, object);
 *	const struct report_finding *finding = scene_finding(scene, "collections");
 *	...
 *	scene_destroy(scene);
 */

/** The root that refers to an object from outside of the heap. */
enum scene_root {
	SCENE_STATIC,        /**< Shop.Program.held */
	SCENE_OTHER_STATIC,  /**< Shop.Program.other */
	SCENE_FRAMEWORK,     /**< System.Cache.s_items */
	SCENE_SCHEDULE,      /**< System.Threading.ThreadPool.s_workQueue */
	SCENE_THREAD_STATIC, /**< Shop.Program.mine, of the first thread */
	SCENE_STACK,  /**< of the first thread, then of the second, ...: in Shop.Poller.Run() */
	SCENE_HANDLE, /**< a strong handle */
	SCENE_PINNED, /**< a pinned handle */
	SCENE_WEAK_HANDLE,
	SCENE_REGISTERED, /**< not a root: an entry of the finalizer queue */
	SCENE_READY,      /**< an object that waits for its finalizer */
	SCENE_ROOTS
};

#define SCENE_THREADS 64u

struct report_scene {
	struct fake_clr *fake;
	struct fake_types *types;
	uint64_t list_type, dictionary_type, entries_type; /**< of System.Collections.Generic */
	uint64_t string_array_type;
	struct report report;
	struct scene_parts *parts;
	bool is_partial;                   /**< roots are missing */
	const struct memory_share *native; /**< before scene_report(); or NULL */
	uint32_t
		more_threads; /**< besides the first one; before scene_report(), at most SCENE_THREADS - 1 */
};

struct report_scene *scene_create(void);
void scene_destroy(struct report_scene *scene);

/**
 * Make a class of @p size bytes of fields, of which the first are @p references to objects; offsets of
 * @p fields count from the first field.
 */
uint64_t scene_class(struct report_scene *scene, const char *space, const char *name,
		     uint32_t references, uint32_t size, const struct fake_field *fields);

/** Make the type of arrays of bytes. */
uint64_t scene_bytes_type(struct report_scene *scene);

/** Next objects are made in a new segment. */
void scene_segment(struct report_scene *scene, enum generation generation, uint64_t size);

/** A List with @p count of its @p room slots in use; scene_list_set() sets them. */
uint64_t scene_list(struct report_scene *scene, uint32_t count, uint32_t room, uint32_t version);
/** A List with @p old new objects in generation 2 and @p young ones in generation 0, each of @p size bytes. */
uint64_t scene_full_list(struct report_scene *scene, uint64_t type, uint32_t size,
			 const uint32_t old_and_young[2], uint32_t version);
void scene_list_set(struct report_scene *scene, uint64_t list, uint32_t index, uint64_t object);
/** Set reference @p index of an object, and element @p index of an array of references. */
void scene_set(struct report_scene *scene, uint64_t object, uint32_t index, uint64_t target);
void scene_set_element(struct report_scene *scene, uint64_t array, uint32_t index, uint64_t target);

void scene_hold(struct report_scene *scene, enum scene_root root, uint64_t object);

/** Make the report, once; no type or object is made afterwards. */
const struct report *scene_report(struct report_scene *scene);
/** The first finding of a rule, after scene_report(); NULL: none. */
const struct report_finding *scene_finding(struct report_scene *scene, const char *rule);
/**
 * Make the report again, with the rules of each turn in reverse order: for any two of them it shows that neither needs the
 * other one to run first.  Each scene asks this of its own report.
 */
void check_any_order(const struct report *report, const struct facts_of *of, struct job *job);
