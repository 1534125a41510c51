# frozen_string_literal: true

module Bontebok
  # `bontebok bench`: the load tool, which is a C program of its own that lies beside this gem's extension. Finds it and
  # becomes it; knows nothing of its options.
  class BenchCommand
    PROGRAM = "bontebok-bench"

    # Does not return when the program is there, else returns the exit status.
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

    # Its path: in lib/bontebok in a checkout, and with RubyGems as it is set by default; else in the gem's directory
    # for extensions, which is in the load path. nil when it is nowhere.
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
