# frozen_string_literal: true

# The application of bench/deploys and bench/strikes. The file BENCH_RELEASE has the release's number, which each
# response has, too. Another word is a release that does not load.
release = Integer(File.read(ENV.fetch("BENCH_RELEASE"))).to_s
run(lambda do |_env|
  sleep 0.005
  [200, { "content-type" => "text/plain", "content-length" => release.size.to_s }, [release]]
end)
