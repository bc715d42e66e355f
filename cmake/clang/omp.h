// What storage/ uses of OpenMP, for Clang, which has no header for the library that FAISS was built
// with: GCC's uses attributes that Clang does not know.
#ifndef CMAKE_CLANG_OMP_H_
#define CMAKE_CLANG_OMP_H_

extern "C" {
void omp_set_num_threads(int num_threads);
int omp_get_max_threads(void);
}

#endif  // CMAKE_CLANG_OMP_H_
