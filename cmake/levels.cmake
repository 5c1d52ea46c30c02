# The interpreter's handlers, src/vgpu/handlers/*.cpp, compiled once for each vector level in ASSAY_LEVELS,
# so that one binary runs on any x86-64 and picks the widest level at start. A handler file wraps its code
# in `namespace assay::vgpu::ASSAY_LEVEL` and is compiled with -DASSAY_LEVEL=portable, avx2 or avx512.
#
# Inline functions and templates from shared headers have one definition for each level too; were they to
# meet in the linker, it would keep one of them, and an AVX-512 body of std::vector could run on a machine
# that has none. So each level above portable is linked into one object in which only the names of its own
# namespace stay global.
#
# Handlers leave the upper halves of the vector registers as they are (-mno-vzeroupper): those that call code
# of another level clear them first (ASSAY_LEAVE_VECTORS), and so does the dispatcher.
set(ASSAY_LEVEL_FLAGS_portable -march=x86-64)
set(ASSAY_LEVEL_FLAGS_avx2 -march=x86-64-v3 -mprefer-vector-width=256 -mno-vzeroupper)
set(ASSAY_LEVEL_FLAGS_avx512 -march=x86-64-v4 -mprefer-vector-width=512 -mno-vzeroupper)

# assay_levels(TARGET): adds the levels' objects to TARGET, and to its sources the definitions
# ASSAY_HAS_PORTABLE, ASSAY_HAS_AVX2, ASSAY_HAS_AVX512 of the levels that were built.
function(assay_levels target)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/vgpu/handlers/*.cpp)
  if(NOT sources)
    return()
  endif()
  foreach(level ${ASSAY_LEVELS})
    if(NOT DEFINED ASSAY_LEVEL_FLAGS_${level})
      message(FATAL_ERROR "ASSAY_LEVELS: there is no level '${level}' (portable, avx2, avx512)")
    endif()
    set(objects ${target}_${level})
    add_library(${objects} OBJECT ${sources})
    target_compile_definitions(${objects} PRIVATE ASSAY_LEVEL=${level})
    target_compile_options(${objects} PRIVATE
      ${ASSAY_LEVEL_FLAGS_${level}} -Wno-psabi $<$<CXX_COMPILER_ID:Clang>:-Wno-pass-failed> -fno-trapping-math
      # objcopy cannot make unique symbols local.
      $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique> $<IF:$<CONFIG:Sanitize>,-O1,-O3>)
    target_link_libraries(${objects} PRIVATE assay_ir assay_fp assay_race assay_schedule)
    if(level STREQUAL portable)
      target_sources(${target} PRIVATE $<TARGET_OBJECTS:${objects}>)
    else()
      assay_close_level(${objects} ${level})
      target_sources(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/${objects}.o)
    endif()
    string(TOUPPER ${level} upper)
    target_compile_definitions(${target} PUBLIC ASSAY_HAS_${upper})
  endforeach()
endfunction()

# GNU binutils, which come with g++: no other linker resolves COMDAT groups in a relocatable link.
find_program(ASSAY_LD ld.bfd REQUIRED)
find_program(ASSAY_OBJCOPY objcopy REQUIRED)

# One object from all of a level's, with only assay::vgpu::LEVEL's names visible outside.
function(assay_close_level objects level)
  string(LENGTH ${level} length)
  set(joined ${CMAKE_CURRENT_BINARY_DIR}/${objects}.o)
  add_custom_command(
    OUTPUT ${joined}
    COMMAND ${ASSAY_LD} -r --force-group-allocation -o ${joined} $<TARGET_OBJECTS:${objects}>
    COMMAND ${ASSAY_OBJCOPY} --wildcard --keep-global-symbol=*5assay4vgpu${length}${level}* ${joined}
    DEPENDS ${objects} $<TARGET_OBJECTS:${objects}>
    COMMAND_EXPAND_LISTS VERBATIM
    COMMENT "Closing the ${level} handlers")
  set_source_files_properties(${joined} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
endfunction()
