# Cortex-M cores and the emulated boards that run their code.
# shellcheck shell=sh
cores="cortex-m0 cortex-m3 cortex-m4 cortex-m7 cortex-m33 cortex-m55"

core_flags() { # core_flags CORE: of the compiler
    case $1 in
    cortex-m4) echo "-mthumb -mcpu=$1 -mfloat-abi=hard -mfpu=fpv4-sp-d16" ;;
    cortex-m7 | cortex-m33) echo "-mthumb -mcpu=$1 -mfloat-abi=hard -mfpu=fpv5-sp-d16" ;;
    cortex-m55) echo "-mthumb -mcpu=$1 -mfloat-abi=hard" ;;
    *) echo "-mthumb -mcpu=$1" ;;
    esac
}
core_board() { # QEMU's -M; a Cortex-M3 runs the code of an M0 as well
    case $1 in
    cortex-m0 | cortex-m3) echo mps2-an385 ;;
    cortex-m4) echo mps2-an386 ;;
    cortex-m7) echo mps2-an500 ;;
    cortex-m33) echo mps2-an505 ;;
    cortex-m55) echo mps3-an547 ;;
    esac
}
core_link() { # of the linker: where the board has memory
    [ "$1" != cortex-m33 ] ||
        echo "-Wl,--defsym=ROM_ORG=0x10000000 -Wl,--defsym=RAM_ORG=0x38000000"
}
# board_run BOARD IMAGE OPTIONS...: what the image printed goes to stdout; its
# exit status is returned.
board_run() {
    _board=$1
    _image=$2
    shift 2
    timeout 60 qemu-system-arm -M "$_board" -display none -monitor none -serial none \
        -semihosting-config enable=on,target=native "$@" -kernel "$_image" 2>&1
}
