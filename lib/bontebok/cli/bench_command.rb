# frozen_string_literal: true

module Bontebok
  # The command `bontebok bench`. CLI runs it. The load tool is a C program, which is installed beside this gem's
  # extension. This class finds the program and executes it with all arguments, without reading them.
  class BenchCommand
    PROGRAM = "bontebok-bench"

    # Executes the program and does not return. If there is no program, or if exec fails, returns the exit status 1.
    def self.run(argv)
      new(argv).run
    end

    def initialize(argv, load_path: $LOAD_PATH)
      @argv = argv
      @load_path = load_path
    end

    def run
      return become(program) if program

      $stderr.write("bontebok bench: #{PROGRAM} is not built; `gem pristine bontebok` builds it, " \
                    "in a checkout bin/setup does\n")
      1
    end

    # The path of the program, or nil. In a checkout, and in a gem with RubyGems' default settings, the program is in
    # lib/bontebok. Otherwise the program is in the gem's directory for extensions, which is in the load path.
    def program
      @program ||= [File.expand_path("..", __dir__), *@load_path.map do |directory|
        File.join(directory.to_s, "bontebok")
      end]
                   .map { |directory| File.join(directory, PROGRAM) }
                   .find { |path| File.file?(path) && File.executable?(path) }
    end

    private

    def become(path)
      exec([path, PROGRAM], *@argv)
    rescue SystemCallError => e
      $stderr.write("bontebok bench: #{e.message}\n")
      1
    end
  end
end
