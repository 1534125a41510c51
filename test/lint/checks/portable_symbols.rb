# frozen_string_literal: true

require "open3"
require_relative "object_symbols"

module Lint
  # Compiles the core for systems without Linux (BB_PORTABLE), and checks which functions of other libraries it calls.
  # Linux has all of them, so only this list can show that macOS and BSD have them, too.
  class PortableSymbols
    # Functions of POSIX.1-2008. getentropy is in all libcs of today; POSIX.1-2024 has it.
    POSIX = %w[
      accept calloc clock_getres clock_gettime close closedir connect dup2 fclose fcntl fdopendir fileno free
      fstat fstatat getentropy getpid getrlimit getsockname getsockopt gmtime_r htonl htons inet_ntop inet_pton
      ioctl kill localtime_r malloc memchr memcmp memcpy memmove memset mkstemp mmap munmap nanosleep ntohl
      ntohs open openat pipe poll pread pthread_atfork pthread_attr_destroy pthread_attr_getstacksize
      pthread_attr_init pthread_attr_setstacksize pthread_cond_destroy pthread_cond_init pthread_cond_signal
      pthread_cond_wait pthread_create pthread_join pthread_mutex_destroy pthread_mutex_init pthread_mutex_lock
      pthread_mutex_trylock pthread_mutex_unlock pthread_once pthread_sigmask raise read readdir realloc
      realpath recv sched_yield send sendmsg setsockopt shutdown sigaction sigfillset snprintf socket sprintf
      stat strchr strcmp strcpy strcspn strdup strerror strftime strlen strncasecmp strncmp strncpy strrchr
      strspn strtok_r tmpfile unlink write
    ].freeze
    # posix_fadvise is called only where its constants exist. The other names are the libc's own.
    OWN = /\A(bb_\w+|_GLOBAL_OFFSET_TABLE_|__errno_location|__ctype_b_loc|__stack_chk_fail|posix_fadvise)\z/

    FLAGS = %w[-std=c11 -D_DEFAULT_SOURCE -DBB_PORTABLE -O0 -Wall -Wextra -Werror].freeze

    # root: the directory with core/. objects: an empty directory.
    def initialize(root, objects)
      @root = root
      @objects = objects
    end

    def faults
      output, status = compile
      return output.lines.grep(/error/).map(&:chomp) unless status.success?

      ObjectSymbols.read(Dir[File.join(@objects, "*.o")]).filter_map do |object, name, own|
        next if own || POSIX.include?(name) || name.match?(OWN)

        "#{File.basename(object, '.o')}.c calls #{name}, which is not in POSIX"
      end
    end

    private

    def compile
      core = File.join(@root, "core")
      Open3.capture2e("cc", *FLAGS, "-I#{core}/include", "-I#{core}/src", "-c", *Dir[File.join(core, "src/*/*.c")],
                      chdir: @objects)
    end
  end
end
