/* SPDX-License-Identifier: MIT */
/* The segments of a heap as a map: what is alive, dead and free, and what is pinned. */
#include <inttypes.h>

#include "command/report/page.h"
#include "findings/heap_map.h"
#include "gc/heap.h"

/* Shades of live and of dead cells, by how full they are. */
#define SHADES 4u

/* Its shade, 1 to SHADES, and above that the same for dead ones; 0: free. */
static unsigned int shade_of(const struct map_cell *cell, uint64_t size)
{
	uint64_t used = cell->live + cell->dead;
	if (!used || !size)
		return 0;
	double full = (double)used / (double)size;
	unsigned int shade = 1 + (unsigned int)(full * (SHADES - 1) + 0.5);
	if (shade > SHADES)
		shade = SHADES;
	return cell->live >= cell->dead ? shade : SHADES + shade;
}

static void write_shade(struct page *page, const struct heap_map *map, const struct map_row *row,
			const struct map_cell *cells, unsigned int shade)
{
	bool is_open = false;
	for (size_t at = 0, end; at < map->cell_count; at = end) {
		for (end = at; end < map->cell_count; end++) {
			uint64_t size =
				map_cell_begin(map, row, end + 1) - map_cell_begin(map, row, end);
			if (shade_of(&cells[end], size) != shade)
				break;
		}
		if (end == at) {
			end++;
			continue;
		}
		if (!is_open) {
			html_printf(&page->html, "<path class=\"%s%u\" d=\"",
				    shade > SHADES ? "d" : "l",
				    shade > SHADES ? shade - SHADES : shade);
		}
		is_open = true;
		html_printf(&page->html, "M%zu 0h%zuv1h-%zuz", at, end - at, end - at);
	}
	if (is_open)
		html_puts(&page->html, "\"/>");
}

static void write_pins(struct page *page, const struct heap_map *map, const struct map_row *row,
		       const struct map_cell *cells)
{
	if (!row->pins)
		return;
	html_puts(&page->html, "<path class=\"pin\" d=\"");
	for (size_t i = 0; i < map->cell_count; i++) {
		if (cells[i].pins)
			html_printf(&page->html, "M%zu.5 0v1", i);
	}
	html_puts(&page->html, "\"/>");
}

static void write_map_picture(struct page *page, const struct heap_map *map,
			      const struct map_row *row)
{
	const struct map_cell *cells = heap_map_cells(map, row);
	double size = (double)(row->end - row->begin);
	html_printf(
		&page->html,
		"<td><svg class=\"map\" role=\"img\" aria-label=\"%.0f %% alive, %.0f %% dead\" "
		"viewBox=\"0 0 %zu 1\" preserveAspectRatio=\"none\">",
		100 * (double)row->live / size, 100 * (double)row->dead / size, map->cell_count);
	for (unsigned int shade = 1; shade <= 2 * SHADES; shade++)
		write_shade(page, map, row, cells, shade);
	write_pins(page, map, row, cells);
	html_puts(&page->html, "</svg></td>");
}

static const char *map_generation(uint32_t generation)
{
	static const char *const names[] = { "gen 0",  "gen 1",  "gen 2",    "large",
					     "pinned", "frozen", "ephemeral" };
	return generation < sizeof(names) / sizeof(*names) ? names[generation] : "?";
}

static uint64_t free_bytes(uint64_t all, uint64_t live, uint64_t dead)
{
	return all > live + dead ? all - live - dead : 0;
}

static void write_map_row(struct page *page, const struct heap_map *map, const struct map_row *row)
{
	uint64_t size = row->end - row->begin;
	html_printf(&page->html, "<tr><td>%s</td>", map_generation(row->generation));
	page_number(page, row->heap);
	page_address(page, row->begin);
	write_map_picture(page, map, row);
	page_bytes(page, size);
	page_bytes(page, row->live);
	page_bytes(page, row->dead);
	page_bytes(page, free_bytes(size, row->live, row->dead));
	page_number(page, row->pins);
	html_puts(&page->html, "</tr>\n");
}

static void write_map_rest(struct page *page, const struct heap_map *map)
{
	char count[COUNT_SIZE], all[32], live[32];
	for (uint32_t i = 0; i <= GENERATION_UNKNOWN; i++) {
		const struct map_rest *rest = &map->rest[i];
		if (!rest->segments)
			continue;
		html_printf(&page->html, "<p class=\"note\">Left out: %s of %s, the smaller ones:",
			    format_count(rest->segments, "segment", count), map_generation(i));
		html_printf(&page->html, " %s, of which %s are alive; %" PRIu64 " pins.</p>\n",
			    format_bytes(rest->bytes, all), format_bytes(rest->live, live),
			    rest->pins);
	}
	if (map->empty) {
		html_printf(&page->html, "<p class=\"note\">Left out: %s without objects.</p>\n",
			    format_count(map->empty, "segment", count));
	}
}

static void write_generations(struct page *page)
{
	const struct heap_sums *sums = &page->report->facts.sums;
	page_table(page, "generations", "Objects of each generation");
	page_column(page, "Part", "a generation", false);
	page_column(page, "Alive", NULL, true);
	page_column(page, "Share", "of the live heap", true);
	page_column(page, "Dead", "not taken by a collection yet", true);
	page_body(page);
	for (uint32_t i = 0; i < FACT_GENERATIONS; i++) {
		if (!sums->live[i] && !sums->dead[i])
			continue;
		html_printf(&page->html, "<tr><td>%s</td>",
			    i == GENERATION_UNKNOWN ? "not known" : map_generation(i));
		page_bytes(page, sums->live[i]);
		page_share(page, sums->live[i]);
		page_bytes(page, sums->dead[i]);
		html_puts(&page->html, "</tr>\n");
	}
	page_table_end(page);
}

static void write_map(struct page *page, const struct heap_map *map)
{
	html_puts(
		&page->html,
		"<p class=\"legend\"><svg><rect class=\"l4\"/></svg> alive "
		"<svg><rect class=\"d4\"/></svg> dead <svg><rect class=\"hole\"/></svg> free; lighter: "
		"in part. <svg><rect class=\"tick\"/></svg> pinned</p>\n");
	page_table(page, "map-table", "Segments, or regions, by address");
	page_column(page, "Part", "its generation", false);
	page_column(page, "Heap", "its logical heap", true);
	page_column(page, "Begins at", NULL, false);
	page_column(page, "Map", "from its begin to its end", false);
	page_column(page, "Bytes", "up to the end of the last object", true);
	page_column(page, "Alive", NULL, true);
	page_column(page, "Dead", "not taken by a collection yet", true);
	page_column(page, "Free", "holes, and room for allocation", true);
	page_column(page, "Pins", "pinned objects", true);
	page_body(page);
	for (size_t i = 0; i < map->row_count; i++)
		write_map_row(page, map, &map->rows[i]);
	page_table_end(page);
	write_map_rest(page, map);
}

enum hd_status page_map(struct page *page)
{
	struct heap_map map;
	const struct report_facts *facts = &page->report->facts;
	if (!facts->has_generations)
		return HD_OK;
	page_section(page, "map", facts->heap ? "Map of the heap" : "Generations");
	write_generations(page);
	enum hd_status status = HD_OK;
	if (facts->heap) {
		status = heap_map_init(&map, facts, page->call->err);
		if (status == HD_OK)
			write_map(page, &map);
		heap_map_deinit(&map);
	}
	page_section_end(page);
	return status;
}
