# frozen_string_literal: true

require "ruby_memcheck"

# Decides which reports of valgrind show faults of the binding (ext/bontebok). The Rakefile's test:memory uses this
# module.
module Memcheck
  # Names of libraries and functions that the gem ruby_memcheck does not know.
  module Frame
    # Debian names Ruby's library libruby-3.1.so.3.1.2. The gem knows only libruby.so.3.1.2, so it would count leaks of
    # Ruby as leaks of the binding.
    LIBRARY = /\Alibruby-[\d.]+\.so\.#{Regexp.escape(RUBY_VERSION)}\z/
    # Functions that Init_bontebok calls once. Their memory belongs to classes and method tables, and is no leak.
    INITIALIZER = /\Abbr_init_/

    def in_ruby?
      super || LIBRARY.match?(File.basename(obj.to_s))
    end

    def binary_init_func?
      super || (in_binary? && INITIALIZER.match?(fn))
    end
  end

  # Ruby's library has no symbols for its inner functions, so valgrind has no names for them.
  module Stack
    def skip?
      super || inside_ruby?
    end

    private

    # If the binding calls ALLOC_N, one frame of Ruby is between malloc and the binding. More frames without names mean
    # that Ruby allocates for itself: an object's bytes, or memory for the garbage collector.
    def inside_ruby?
      frames.drop(1).take_while { |frame| frame.in_ruby? && frame.fn.nil? }.size > 1
    end
  end

  # Functions that allocate for Ruby's own objects. Ruby does not free an object that is alive at the end.
  RUBY_OBJECTS = /\Arb_(str|ary|hash|st|vm|proc|block_call|mutex)/
  # Ruby runs finalizers and other postponed jobs when it checks for interrupts. The binding's serve loop makes Ruby
  # check, so these jobs appear inside the binding's calls.
  PUT_OFF = /\Arb_postponed_job_flush\z/
end

RubyMemcheck::Frame.prepend(Memcheck::Frame)
RubyMemcheck::Stack.prepend(Memcheck::Stack)
RubyMemcheck.config(
  binary_name: "bontebok",
  skipped_ruby_functions: RubyMemcheck::Configuration::DEFAULT_SKIPPED_RUBY_FUNCTIONS +
                          [Memcheck::RUBY_OBJECTS, Memcheck::PUT_OFF]
)
