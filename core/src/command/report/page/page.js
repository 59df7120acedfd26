/* SPDX-License-Identifier: MIT */
/* The page is complete without this script, which only adds sorting, search, copying and zooming. */
(function () {
  'use strict';

  function make(name, properties, text) {
    var made = document.createElement(name);
    Object.keys(properties || {}).forEach(function (key) {
      made.setAttribute(key, properties[key]);
    });
    if (text !== undefined) {
      made.textContent = text;
    }
    return made;
  }

  function button(text, act) {
    var made = make('button', { type: 'button', 'class': 'button' }, text);
    made.addEventListener('click', act);
    return made;
  }

  function each(selector, act) {
    Array.prototype.forEach.call(document.querySelectorAll(selector), act);
  }

  /* Sorting. */
  function valueOf(row, column, isNumber) {
    var cell = row.cells[column];
    if (!isNumber) {
      return cell.textContent;
    }
    var value = parseFloat(cell.getAttribute('data-v') || cell.textContent);
    return isNaN(value) ? -Infinity : value;
  }

  function sortTable(table, column, isNumber, isDescending) {
    var body = table.tBodies[0];
    var rows = Array.prototype.map.call(body.rows, function (row, index) {
      return { row: row, index: index, value: valueOf(row, column, isNumber) };
    });
    rows.sort(function (a, b) {
      var order = a.value < b.value ? -1 : a.value > b.value ? 1 : 0;
      return (isDescending ? -order : order) || a.index - b.index;
    });
    rows.forEach(function (item) {
      body.appendChild(item.row);
    });
  }

  function addSorting(table) {
    var heads = table.tHead.rows[0].cells;
    Array.prototype.forEach.call(heads, function (head, column) {
      var isNumber = head.classList.contains('n');
      var made = make('button', { type: 'button' }, head.textContent);
      made.addEventListener('click', function () {
        var now = head.getAttribute('aria-sort');
        var isDescending = now ? now === 'ascending' : isNumber;
        Array.prototype.forEach.call(heads, function (other) {
          other.removeAttribute('aria-sort');
        });
        head.setAttribute('aria-sort', isDescending ? 'descending' : 'ascending');
        sortTable(table, column, isNumber, isDescending);
      });
      head.textContent = '';
      head.appendChild(made);
    });
  }

  /* Search: rows without the words disappear. */
  function addSearch(table) {
    var rows = table.tBodies[0].rows;
    if (rows.length < 8) {
      return;
    }
    var tools = make('div', { 'class': 'tools' });
    var label = make('label', {}, 'Search ');
    var input = make('input', { type: 'search', id: table.id + '-search' });
    var count = make('span', { 'class': 'note', role: 'status' });
    label.appendChild(input);
    tools.appendChild(label);
    tools.appendChild(count);
    input.addEventListener('input', function () {
      var words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      var shown = 0;
      Array.prototype.forEach.call(rows, function (row) {
        var text = row.textContent.toLowerCase();
        row.hidden = !words.every(function (word) {
          return text.indexOf(word) >= 0;
        });
        shown += row.hidden ? 0 : 1;
      });
      count.textContent = words.length ? shown + ' of ' + rows.length + ' rows' : '';
    });
    var scroll = table.parentNode;
    scroll.parentNode.insertBefore(tools, scroll);
  }

  /* Copying of commands; a page that was opened as a file may have no clipboard. */
  function addCopy(code) {
    if (!navigator.clipboard) {
      return;
    }
    var made = button('Copy', function () {
      navigator.clipboard.writeText(code.textContent).then(function () {
        made.textContent = 'Copied';
      }, function () {
        made.textContent = 'Not copied';
      });
    });
    code.parentNode.appendChild(document.createTextNode(' '));
    code.parentNode.appendChild(made);
  }

  /* Light, dark, or as the system has it: kept in the address, not on the machine. */
  var themes = ['auto', 'light', 'dark'];

  function setTheme(theme) {
    document.documentElement.classList.remove('light', 'dark');
    if (theme !== 'auto') {
      document.documentElement.classList.add(theme);
    }
  }

  function addTheme() {
    var theme = location.hash === '#light' ? 'light' : location.hash === '#dark' ? 'dark' : 'auto';
    var made = button('Colours: ' + theme, function () {
      theme = themes[(themes.indexOf(theme) + 1) % themes.length];
      setTheme(theme);
      made.textContent = 'Colours: ' + theme;
      history.replaceState(null, '', theme === 'auto' ? '#' : '#' + theme);
    });
    setTheme(theme);
    var item = make('li');
    item.appendChild(made);
    document.querySelector('nav ul').appendChild(item);
  }

  function addUnfolding() {
    var section = document.getElementById('findings');
    var all = section.querySelectorAll('details');
    if (!all.length) {
      return;
    }
    var isOpen = false;
    var tools = make('div', { 'class': 'tools' });
    var made = button('Unfold all', function () {
      isOpen = !isOpen;
      Array.prototype.forEach.call(all, function (one) {
        one.open = isOpen;
      });
      made.textContent = isOpen ? 'Fold all' : 'Unfold all';
    });
    tools.appendChild(made);
    section.insertBefore(tools, section.children[1] || null);
  }

  /* Charts: search, a line that says what is pointed at, and of the flame graphs zooming and keys. */
  function titleOf(box) {
    return box.querySelector('title').textContent;
  }

  function addDetail(chart) {
    var line = make('p', { 'class': 'note detail', role: 'status' });
    function show(event) {
      var box = event.target.closest('.box');
      if (box) {
        line.textContent = titleOf(box);
      }
    }
    chart.addEventListener('mouseover', show);
    chart.addEventListener('focusin', show);
    chart.parentNode.insertBefore(line, chart.nextSibling);
    return line;
  }

  function addChartSearch(chart, boxes, line) {
    var tools = make('div', { 'class': 'tools' });
    var label = make('label', {}, 'Search ');
    var input = make('input', { type: 'search', id: chart.querySelector('svg').id + '-search' });
    label.appendChild(input);
    tools.appendChild(label);
    input.addEventListener('input', function () {
      var text = input.value.trim().toLowerCase();
      var found = 0;
      boxes.forEach(function (box) {
        var isMatch = text !== '' && titleOf(box).toLowerCase().indexOf(text) >= 0;
        box.classList.toggle('match', isMatch);
        found += isMatch ? 1 : 0;
      });
      chart.classList.toggle('searching', text !== '');
      line.textContent = text === '' ? '' : found + (found === 1 ? ' part has' : ' parts have') + ' this name';
    });
    chart.parentNode.insertBefore(tools, chart);
    return tools;
  }

  function readFlame(boxes) {
    return boxes.map(function (box, index) {
      var x = parseFloat(box.getAttribute('x'));
      return {
        box: box, index: index, x: x, end: x + parseFloat(box.getAttribute('width')),
        depth: parseInt(box.getAttribute('data-d'), 10)
      };
    });
  }

  /* Sizes are rounded to thousandths of a percent. */
  var SLACK = 0.002;

  function isIn(outer, inner) {
    return outer.x <= inner.x + SLACK && outer.end >= inner.end - SLACK;
  }

  /* The name in a rectangle: a type without its namespace. */
  function nameOf(box) {
    var name = titleOf(box).replace(/: [^:]*$/, '');
    return box.classList.contains('t') ? name.replace(/^[^<[`(+]*\.(?=.)/, '') : name;
  }

  function place(part, scale, x) {
    var box = part.box;
    var left = Math.max(0, (part.x - x) * scale);
    var width = Math.min(100, (part.end - x) * scale) - left;
    box.setAttribute('x', left + '%');
    box.setAttribute('width', Math.max(0, width) + '%');
    var text = box.querySelector('text');
    if (!text && width >= 2) {
      text = document.createElementNS(box.namespaceURI, 'text');
      text.setAttribute('x', '4');
      text.setAttribute('y', '14');
      text.textContent = nameOf(box);
      box.appendChild(text);
    }
  }

  function zoom(parts, to) {
    var scale = 100 / Math.max(to.end - to.x, 1e-9);
    parts.forEach(function (part) {
      var isAbove = part.depth < to.depth && isIn(part, to);
      var isBelow = part.depth >= to.depth && isIn(to, part);
      part.box.toggleAttribute('hidden', !isAbove && !isBelow);
      if (isAbove || isBelow) {
        place(part, scale, to.x);
      }
    });
  }

  function parentOf(parts, part) {
    return parts.filter(function (other) {
      return other.depth === part.depth - 1 && isIn(other, part);
    })[0];
  }

  function childOf(parts, part) {
    return parts.filter(function (other) {
      return other.depth === part.depth + 1 && isIn(part, other);
    })[0];
  }

  function sideOf(parts, part, step) {
    var row = parts.filter(function (other) {
      return other.depth === part.depth && !other.box.hasAttribute('hidden');
    });
    return row[row.indexOf(part) + step];
  }

  function keyTarget(parts, part, key) {
    switch (key) {
      case 'ArrowDown': return childOf(parts, part);
      case 'ArrowUp': return parentOf(parts, part);
      case 'ArrowRight': return sideOf(parts, part, 1);
      case 'ArrowLeft': return sideOf(parts, part, -1);
      case 'Home': return parts[0];
      default: return undefined;
    }
  }

  function addFlame(chart, boxes, tools) {
    var svg = chart.querySelector('svg');
    var parts = readFlame(boxes);
    var whole = button('Show everything', function () {
      zoom(parts, parts[0]);
      whole.hidden = true;
    });
    whole.hidden = true;
    tools.appendChild(whole);
    svg.setAttribute('role', 'tree');
    svg.setAttribute('aria-label', svg.getAttribute('aria-label').replace(/;.*/, '') +
      '; arrow keys move, Enter shows one part, Escape everything');
    function focusOn(part) {
      parts.forEach(function (other) {
        other.box.setAttribute('tabindex', other === part ? '0' : '-1');
      });
      part.box.focus();
    }
    function enter(part) {
      zoom(parts, part);
      whole.hidden = part.index === 0;
    }
    parts.forEach(function (part) {
      part.box.setAttribute('role', 'treeitem');
      part.box.setAttribute('aria-level', part.depth + 1);
      part.box.setAttribute('aria-label', titleOf(part.box));
      part.box.setAttribute('tabindex', part.index ? '-1' : '0');
      part.box.addEventListener('click', function () {
        enter(part);
        focusOn(part);
      });
      part.box.addEventListener('keydown', function (event) {
        var to = keyTarget(parts, part, event.key);
        if (event.key === 'Enter' || event.key === ' ') {
          enter(part);
        } else if (event.key === 'Escape') {
          enter(parts[0]);
        } else if (to) {
          if (to.box.hasAttribute('hidden')) {
            enter(to);
          }
          focusOn(to);
        } else if (event.key.indexOf('Arrow') !== 0) {
          return;
        }
        event.preventDefault();
      });
    });
  }

  function addChart(chart) {
    var boxes = Array.prototype.slice.call(chart.querySelectorAll('.box'));
    if (!boxes.length) {
      return;
    }
    var line = addDetail(chart);
    var tools = addChartSearch(chart, boxes, line);
    if (chart.classList.contains('flame')) {
      addFlame(chart, boxes, tools);
    }
  }

  /* Paper has nothing to unfold. */
  function openForPrint() {
    window.addEventListener('beforeprint', function () {
      each('.card details', function (one) {
        one.open = true;
      });
    });
  }

  each('table.data', function (table) {
    addSorting(table);
    addSearch(table);
  });
  each('.chart', addChart);
  each('.next code', addCopy);
  addTheme();
  addUnfolding();
  openForPrint();
}());
