# SPDX-License-Identifier: GPL-3.0-or-later
add_library(report_fixture STATIC EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/fixture.c
            ${CMAKE_CURRENT_LIST_DIR}/fixture_cases.c ${CMAKE_CURRENT_LIST_DIR}/fixture_views.c
            ${CMAKE_CURRENT_LIST_DIR}/fixture_tune.c ${CMAKE_CURRENT_LIST_DIR}/fixture_reads.c
            ${CMAKE_CURRENT_LIST_DIR}/fixture_latency.c ${CMAKE_CURRENT_LIST_DIR}/fixture_chart.c
            ${CMAKE_CURRENT_LIST_DIR}/fixture_svg.c)
target_compile_definitions(report_fixture PRIVATE REPORTS_SOURCE_DIR="${PROJECT_SOURCE_DIR}/reports")
# The tests use the modules separately, including the internals of the page.
target_include_directories(report_fixture PUBLIC ${CMAKE_CURRENT_LIST_DIR}
                           ${PROJECT_SOURCE_DIR}/reports/page)
target_link_libraries(report_fixture PUBLIC reports reports_model reports_text reports_draw sim_tune
                      PkgConfig::LIBXML PRIVATE bucketlab_flags PkgConfig::CMOCKA)
# A linker takes a member of a library only if it is referenced; LeakSanitizer's option makes every program reference
# it.
target_sources(report_fixture INTERFACE ${CMAKE_CURRENT_LIST_DIR}/fixture_leaks.c)

# Writes every chart as in a page, for a visual comparison with the charts.
add_executable(report_gallery_page EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/gallery_page.c)
target_link_libraries(report_gallery_page PRIVATE bucketlab_flags report_fixture PkgConfig::CMOCKA)
add_executable(report_gallery EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/gallery.c)
target_link_libraries(report_gallery PRIVATE bucketlab_flags report_fixture)

bucketlab_test(reports/model_test LINK report_fixture)
bucketlab_test(reports/answer_test LINK report_fixture)
bucketlab_test(reports/load_test LINK report_fixture m)
bucketlab_test(reports/summary_test LINK report_fixture)
bucketlab_test(reports/latency_test LINK report_fixture)
bucketlab_test(reports/timeline_test LINK report_fixture m)
bucketlab_test(reports/changes_test LINK report_fixture)
bucketlab_test(reports/survival_test LINK report_fixture)
bucketlab_test(reports/layout_test LINK report_fixture)
bucketlab_test(reports/front_test LINK report_fixture)
bucketlab_test(reports/hints_test LINK report_fixture)
bucketlab_test(reports/page_svg_test LINK report_fixture PkgConfig::LIBXML)
bucketlab_test(reports/files_test LINK report_fixture)
bucketlab_wrap_disk(reports/files_test)
bucketlab_test(reports/no_font_test LINK report_fixture)
bucketlab_test(reports/page_test LINK report_fixture PkgConfig::LIBXML)
bucketlab_wrap_disk(reports/page_test)
