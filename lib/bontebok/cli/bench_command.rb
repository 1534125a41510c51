# frozen_string_literal: true

require_relative "../system/encodings/output"
require_relative "bench_program"

module Bontebok
  # The command `bontebok bench`. CLI runs it. The load tool is a C program (BenchProgram). This class executes it with
  # all arguments, and answers only --help itself, so that nothing is built for it.
  class BenchCommand
    # Executes the program and does not return. If there is no program, or if exec fails, returns the exit status 1.
    def self.run(argv, program: BenchProgram.new)
      return help(program) if argv.intersect?(%w[-h --help])

      path = program.path { Output.write($stderr, "bontebok bench: building the load tool\n") }
      exec([path, BenchProgram::NAME], *argv)
    rescue BenchProgram::NotBuilt, SystemCallError => e
      Output.write($stderr, "bontebok bench: #{e.message}\n")
      1
    end

    def self.help(program)
      Output.write($stdout, program.usage)
      0
    rescue Errno::EPIPE
      0
    end
    private_class_method :help
  end
end
