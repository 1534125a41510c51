# frozen_string_literal: true

module Runner
  ROOT = File.expand_path("../../..", __dir__)
  # The scripts of bench/, as paths below ROOT.
  BENCH_SCRIPTS = Dir.glob("bench/{*,*/*}", base: ROOT).select do |script|
    path = File.join(ROOT, script)
    File.file?(path) && File.executable?(path)
  end.freeze
end
