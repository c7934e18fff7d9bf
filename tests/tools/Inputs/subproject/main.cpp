#include <heddle/heddle.h>

int main() { return heddle::version()[0] == '0' ? 0 : 1; }
