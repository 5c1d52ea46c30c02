# The injection library of the native backend: optional, since it needs the headers of the CUDA driver
# and of the Compute Sanitizer API, and nvcc for the device code. All three come from the wheels of
# setup/requirements-native.txt, or from a toolkit. Sets ASSAY_NATIVE_INCLUDES and ASSAY_NVCC when they
# are there. ASSAY_NATIVE: AUTO builds the library when the wheels are there, whose versions are known to
# do, so that no toolkit of whatever age can break a user's build; ON insists, and takes a toolkit as
# well; OFF never builds it.
set(ASSAY_NATIVE AUTO CACHE STRING "Build the injection library: AUTO, ON or OFF")
set(ASSAY_NATIVE_ARCHITECTURES all CACHE STRING
  "Architectures of the device code (90;100), or all that the compiler offers")

function(assay_find_native)
  file(GLOB wheels ${CMAKE_SOURCE_DIR}/.venv/lib/python3*/site-packages/nvidia/cu13)
  set(places ${wheels})
  if(ASSAY_NATIVE STREQUAL ON)
    list(APPEND places $ENV{CUDA_HOME} /usr/local/cuda)
  endif()
  foreach(place ${places})
    if(NOT cuda AND EXISTS ${place}/include/cuda.h)
      set(cuda ${place}/include)
    endif()
    foreach(folder include compute-sanitizer/include extras/Sanitizer/include)
      if(NOT sanitizer AND EXISTS ${place}/${folder}/sanitizer_patching.h)
        set(sanitizer ${place}/${folder})
      endif()
    endforeach()
    if(NOT nvcc AND EXISTS ${place}/bin/nvcc)
      set(nvcc ${place}/bin/nvcc)
    endif()
  endforeach()
  if(cuda AND sanitizer AND nvcc)
    list(APPEND includes ${sanitizer} ${cuda})
    list(REMOVE_DUPLICATES includes)
    set(ASSAY_NATIVE_INCLUDES ${includes} PARENT_SCOPE)
    set(ASSAY_NVCC ${nvcc} PARENT_SCOPE)
  elseif(ASSAY_NATIVE STREQUAL ON)
    message(FATAL_ERROR "ASSAY_NATIVE=ON, but headers of CUDA ('${cuda}') or of the Compute Sanitizer API "
                        "('${sanitizer}') or nvcc ('${nvcc}') are missing: run setup/native")
  endif()
endfunction()

# assay_device_code(OUT SOURCE FLAG...): a fatbin for all architectures.
function(assay_device_code out source)
  if(ASSAY_NATIVE_ARCHITECTURES STREQUAL all)
    execute_process(COMMAND ${ASSAY_NVCC} --list-gpu-code OUTPUT_VARIABLE codes)
    string(REGEX MATCHALL "[0-9]+" architectures "${codes}")
  else()
    set(architectures ${ASSAY_NATIVE_ARCHITECTURES})
  endif()
  foreach(number ${architectures})
    list(APPEND targets -gencode arch=compute_${number},code=sm_${number})
  endforeach()
  list(TRANSFORM ASSAY_NATIVE_INCLUDES PREPEND -I OUTPUT_VARIABLE includes)
  add_custom_command(OUTPUT ${out}
    COMMAND ${ASSAY_NVCC} --fatbin -std=c++17 -ccbin ${CMAKE_CXX_COMPILER} ${targets} ${ARGN} ${includes}
            ${source} -o ${out}
    DEPENDS ${source} ${CMAKE_SOURCE_DIR}/src/native/device_state.hpp
    COMMENT "Device code ${source}" VERBATIM)
endfunction()

# One shared object that exports one symbol and brings its own C++ library: it is loaded into processes
# that have theirs, of any version.
function(assay_add_native)
  set(here ${CMAKE_SOURCE_DIR}/src/native)
  set(patches ${CMAKE_CURRENT_BINARY_DIR}/patches.fatbin)
  set(helpers ${CMAKE_CURRENT_BINARY_DIR}/helpers.fatbin)
  assay_device_code(${patches} ${here}/inject/patches.cu
    --keep-device-functions -Xptxas --compile-as-tools-patch)
  assay_device_code(${helpers} ${here}/inject/helpers.cu)
  file(GLOB sources CONFIGURE_DEPENDS ${here}/*.cpp ${here}/inject/*.cpp)
  list(REMOVE_ITEM sources ${here}/parent.cpp ${here}/gpu.cpp) # the parent's side
  add_library(assay-native MODULE ${sources})
  set_source_files_properties(${here}/inject/device_code.cpp PROPERTIES
    COMPILE_DEFINITIONS "ASSAY_PATCHES_FILE=\"${patches}\";ASSAY_HELPERS_FILE=\"${helpers}\""
    OBJECT_DEPENDS "${patches};${helpers}")
  set_target_properties(assay-native PROPERTIES
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR} LINK_DEPENDS ${here}/inject/exports.map)
  target_link_libraries(assay-native PRIVATE assay_settings ${CMAKE_DL_LIBS} Threads::Threads)
  target_include_directories(assay-native SYSTEM PRIVATE ${ASSAY_NATIVE_INCLUDES})
  target_link_options(assay-native PRIVATE -static-libstdc++ -static-libgcc -Wl,-Bsymbolic
    -Wl,-z,nodelete -Wl,--version-script=${here}/inject/exports.map)
endfunction()
