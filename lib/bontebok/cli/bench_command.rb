# frozen_string_literal: true

require_relative "../system/encodings/output"
require_relative "bench_program"

module Bontebok
  # The command `bontebok bench`. CLI runs it. The load tool is a C program (BenchProgram). This class executes it with
  # all arguments, without reading them.
  class BenchCommand
    # Executes the program and does not return. If there is no program, or if exec fails, returns the exit status 1.
    def self.run(argv, program: BenchProgram.new)
      path = program.path { Output.write($stderr, "bontebok bench: building the load tool\n") }
      exec([path, BenchProgram::NAME], *argv)
    rescue BenchProgram::NotBuilt, SystemCallError => e
      Output.write($stderr, "bontebok bench: #{e.message}\n")
      1
    end
  end
end
