/* SPDX-License-Identifier: MIT */
/* The style sheet and the script of the page, as the build embeds them (core/embed.cmake). */
#ifndef HEAPDUMP_SRC_COMMAND_REPORT_PAGE_ASSETS_H
#define HEAPDUMP_SRC_COMMAND_REPORT_PAGE_ASSETS_H

/** page/page.css and page/page.js; each ends with NUL. */
extern const char page_css[], page_js[];
/** "sha256-...", of their bytes. */
extern const char page_css_hash[], page_js_hash[];

#endif
