# assay_module(NAME DEPS...): one static library from every .cpp in src/NAME (not its subfolders).
# A module without sources yet is an interface library, so that a folder appears when it has content.
function(assay_module name)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.cpp)
  if(sources)
    add_library(assay_${name} STATIC ${sources})
    target_link_libraries(assay_${name} PUBLIC assay_settings)
    foreach(dep ${ARGN})
      target_link_libraries(assay_${name} PUBLIC ${dep})
    endforeach()
  else()
    add_library(assay_${name} INTERFACE)
    target_link_libraries(assay_${name} INTERFACE assay_settings ${ARGN})
  endif()
endfunction()

# assay_unit_tests(MODULE): one GoogleTest program from every .cpp in tests/unit/MODULE.
function(assay_unit_tests module)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/unit/${module}/*.cpp)
  if(NOT sources)
    return()
  endif()
  add_executable(unit_${module} ${sources})
  target_link_libraries(unit_${module} PRIVATE assay_${module} GTest::gtest GTest::gtest_main ${ARGN})
  target_compile_definitions(unit_${module} PRIVATE ASSAY_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  add_test(NAME unit_${module} COMMAND unit_${module})
  set_tests_properties(unit_${module} PROPERTIES LABELS unit)
endfunction()

# assay_test(NAME LABEL COMMAND...): a test that is a command. Exit code 77 means skipped; a closing line
# `N passed, N failed, N skipped` counts for as many tests.
function(assay_test name label)
  add_test(NAME ${name} COMMAND ${ARGN} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES LABELS ${label} SKIP_RETURN_CODE 77 TIMEOUT 1200)
endfunction()
