/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The layout of a sequence diagram. In: parties and messages. Out: a column per party, with its name at the
 * top and a line down the page, and a row per message. All texts of a party are between its line and the next
 * one towards the hub, so that no line crosses a text; those of the hub are on its right. */
#include "pen.h"

static const double time_width = 30;
static const double name_half = 38;
static const double name_padding = 5;
static const double column_most = 390; /* between two lines */
static const double text_gap = 9;
static const double row_gap = 7;
static const double head_size = 6; /* of an arrow */
static const double mark_size = 7;

struct columns {
    const struct report_sequence *sequence;
    double left, pitch;
};

static double line_of(const struct columns *columns, size_t party)
{
    return report_snap(columns->left + columns->pitch * (double)party);
}

static enum report_ink ink_of(const struct columns *columns, const struct report_message *message)
{
    /* None is like that of an alarm. */
    static const int inks[] = {REPORT_INK_LINE, REPORT_INK_LINE + 2, REPORT_INK_LINE + 3,
                               REPORT_INK_LINE + 5};
    const size_t hub = columns->sequence->hub, party = message->party - (message->party > hub);
    return message->is_alarm       ? REPORT_INK_ALARM
           : message->party == hub ? REPORT_INK_TEXT
                                   : (enum report_ink)inks[party % (sizeof inks / sizeof *inks)];
}

/* An arrow from one x to the other; of an answer that is not heard, only its first part, with a cross. */
static void put_arrow(enum report_message_kind kind, enum report_ink ink, double from, double to,
                      struct report_pen *pen)
{
    const double sign = to > from ? 1 : -1, y = report_snap(pen->y);
    const bool is_lost = kind == REPORT_MESSAGE_UNHEARD;
    const double end = is_lost ? from + (to - from) * 0.8 : to - sign;
    report_pen_line(pen, kind == REPORT_MESSAGE_CALL ? REPORT_SHAPE_LINE : REPORT_SHAPE_DASHED, ink, from, y,
                    end, y, 1.2);
    const double arm = head_size / 2 + 0.5;
    if (is_lost) {
        report_pen_line(pen, REPORT_SHAPE_LINE, ink, end - arm, y - arm, end + arm, y + arm, 1.5);
        report_pen_line(pen, REPORT_SHAPE_LINE, ink, end - arm, y + arm, end + arm, y - arm, 1.5);
        return;
    }
    report_pen_line(pen, REPORT_SHAPE_LINE, ink, end, y, end - sign * head_size, y - arm, 1.5);
    report_pen_line(pen, REPORT_SHAPE_LINE, ink, end, y, end - sign * head_size, y + arm, 1.5);
}

static void put_message(const struct columns *columns, const struct report_message *message,
                        struct report_pen *pen)
{
    const size_t hub = columns->sequence->hub;
    const double line = line_of(columns, message->party), far = line_of(columns, hub);
    const bool is_left =
        message->party > hub || (message->party == hub && hub + 1 == columns->sequence->party_count);
    const enum report_ink ink = ink_of(columns, message);
    const struct report_type type = {message->text,
                                     message->is_alarm ? REPORT_FONT_ALARM : REPORT_FONT_FIGURE,
                                     columns->pitch - 2 * text_gap, 6};
    const struct report_box text = report_pen_text(pen, &type, is_left ? REPORT_RIGHT : REPORT_LEFT,
                                                   is_left ? line - text_gap : line + text_gap, pen->y);
    if (message->kind == REPORT_MESSAGE_NONE) {
        const double middle = pen->y + report_pen_height(pen, type.font) / 2;
        report_pen_mark(
            pen, REPORT_SHAPE_RECTANGLE, ink,
            (struct report_box){line - mark_size / 2, middle - mark_size / 2, mark_size, mark_size});
        pen->y += text.height;
        return;
    }
    pen->y += text.height + 3;
    const bool is_answer = message->kind != REPORT_MESSAGE_CALL;
    put_arrow(message->kind, ink, is_answer ? far : line, is_answer ? line : far, pen);
    pen->y += 2;
}

/* A line across the page, at which a new time begins. */
static void put_time(const struct columns *columns, const struct report_message *message,
                     struct report_pen *pen)
{
    const double y = report_snap(pen->y + report_pen_height(pen, REPORT_FONT_STAGE) / 2);
    report_pen_line(pen, REPORT_SHAPE_LINE, REPORT_INK_GRID, columns->left - name_half, y,
                    report_pen_right(pen), y, 1);
    report_pen_say(pen, message->time, REPORT_FONT_STAGE, REPORT_LEFT, REPORT_PAGE_MARGIN, pen->y);
    pen->y += report_pen_height(pen, REPORT_FONT_STAGE);
}

void report_layout_sequence(const struct report_chart *chart, struct report_pen *pen)
{
    const struct report_sequence *sequence = chart->sequence;
    struct columns columns = {sequence, REPORT_PAGE_MARGIN + time_width + name_half, column_most};
    columns.pitch = fmin(column_most, (report_pen_right(pen) - name_half - columns.left) /
                                          (double)(sequence->party_count - 1));
    const double top = report_snap(pen->y), height = report_pen_height(pen, REPORT_FONT_LABEL);
    const double below = top + height + 2 * name_padding;
    const size_t first = pen->scene->count;
    for (size_t i = 0; i < sequence->party_count; i++)
        report_pen_line(pen, REPORT_SHAPE_LINE, REPORT_INK_AXIS, line_of(&columns, i), below,
                        line_of(&columns, i), below, 1);
    for (size_t i = 0; i < sequence->party_count; i++) {
        const double x = line_of(&columns, i);
        report_pen_mark(pen, REPORT_SHAPE_RECTANGLE, REPORT_INK_ZERO,
                        (struct report_box){x - name_half, top, 2 * name_half, below - top});
        report_pen_say(pen, sequence->parties[i], REPORT_FONT_LABEL, REPORT_CENTRE, x, top + name_padding);
    }
    pen->y = below + row_gap;
    for (size_t i = 0; i < sequence->message_count; i++) {
        const struct report_message *message = &sequence->messages[i];
        if (message->kind == REPORT_MESSAGE_TIME)
            put_time(&columns, message, pen);
        else
            put_message(&columns, message, pen);
        pen->y += row_gap;
    }
    for (size_t i = 0; i < sequence->party_count; i++)
        pen->scene->marks[first + i].box.height = report_snap(pen->y) - below;
    pen->y += row_gap;
    report_pen_paragraph(pen, sequence->foot, REPORT_FONT_LABEL, 3);
}
