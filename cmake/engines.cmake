# The packages of Debian 12 that the project stands on, as imported targets. With RAG_STATIC the .a
# files are taken, so that a shipped binary needs nothing but libc.

find_package(Threads REQUIRED)
find_package(absl REQUIRED)
if(RAG_STATIC)
  # Debian's package files name the shared libraries; the static ones lie beside them.
  get_property(targets DIRECTORY PROPERTY IMPORTED_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    if(target MATCHES "^absl::" AND type STREQUAL "SHARED_LIBRARY")
      get_target_property(location ${target} IMPORTED_LOCATION_NONE)
      string(REGEX REPLACE "\\.so.*$" ".a" location "${location}")
      set_target_properties(${target} PROPERTIES IMPORTED_LOCATION ${location}
                            IMPORTED_LOCATION_NONE ${location} IMPORTED_SONAME_NONE "")
    endif()
  endforeach()
endif()
find_package(CLI11 REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
if(RAG_BUILD_TESTS)
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()
if(RAG_BUILD_BENCHMARKS)
  find_package(benchmark REQUIRED)
endif()

# rag_engine(NAME LIBRARY...): target engine::NAME made of the named libraries, static ones first
# when RAG_STATIC is on.
function(rag_engine name)
  add_library(engine_${name} INTERFACE)
  add_library(engine::${name} ALIAS engine_${name})
  foreach(library IN LISTS ARGN)
    if(RAG_STATIC)
      set(names lib${library}.a)
    else()
      set(names lib${library}.so lib${library}.a)
    endif()
    find_library(RAG_LIB_${library} NAMES ${names} REQUIRED)
    target_link_libraries(engine_${name} INTERFACE ${RAG_LIB_${library}})
  endforeach()
endfunction()

rag_engine(utf8proc utf8proc)
rag_engine(stemmer stemmer)
rag_engine(nettle nettle)
rag_engine(zstd zstd)
rag_engine(cmark cmark-gfm-extensions cmark-gfm)
rag_engine(rocksdb rocksdb snappy lz4 zstd bz2 z)
target_link_libraries(engine_rocksdb INTERFACE Threads::Threads ${CMAKE_DL_LIBS})

# FAISS exists only as libfaiss.a. The serial OpenBLAS starts no threads of its own, which keeps
# start-up short and results independent of the number of cores.
find_library(RAG_LIB_faiss NAMES libfaiss.a REQUIRED)
find_library(
  RAG_LIB_openblas
  NAMES libopenblas.a
  PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-serial
  NO_DEFAULT_PATH REQUIRED)
add_library(engine_faiss INTERFACE)
add_library(engine::faiss ALIAS engine_faiss)
target_include_directories(engine_faiss SYSTEM INTERFACE /usr/include)
target_link_libraries(engine_faiss INTERFACE ${RAG_LIB_faiss} ${RAG_LIB_openblas})
# The Fortran and OpenMP run-times of the compiler that FAISS and OpenBLAS were built with.
foreach(runtime gfortran quadmath gomp)
  if(RAG_STATIC)
    execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=lib${runtime}.a
                    OUTPUT_VARIABLE RAG_LIB_${runtime} OUTPUT_STRIP_TRAILING_WHITESPACE)
  else()
    set(RAG_LIB_${runtime} ${runtime})
  endif()
  target_link_libraries(engine_faiss INTERFACE ${RAG_LIB_${runtime}})
endforeach()
target_link_libraries(engine_faiss INTERFACE Threads::Threads ${CMAKE_DL_LIBS} m)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_include_directories(engine_faiss SYSTEM INTERFACE ${CMAKE_CURRENT_LIST_DIR}/clang)
endif()
