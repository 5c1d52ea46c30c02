// conjugate_gradient.cu with a fault: no grid barrier before the product.
// launch: --entry gradient --cooperative --grid 3 --block 64 --arg rand:f64[192]:uniform --arg zeros:f64[192] --arg out:1536 --arg out:1536 --arg out:1536 --arg out:48 -DNO_SYNC_P
// expect: race global
#include "conjugate_gradient.cu"
